import { api } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import type { Query } from '../../api/query.ts';
import { FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog, useLoaded } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { reloadClientCertificates } from './queries.ts';

const FIELDS = ['host', 'cert', 'key', 'passphrase', 'ca'];
const NEW = { host: '', cert: '', key: '', passphrase: '', ca: '' };
type Form = typeof NEW;
type ClientCertificate = components['schemas']['ClientCertificate'];

const formOf = ({ host, cert, ca }: ClientCertificate): Form => ({
  ...NEW,
  host,
  cert,
  ca: ca ?? '',
});

/** Adds a client certificate, or replaces the given parts of one. */
export function ClientCertificateDialog({
  id,
  onClose,
}: {
  /** Null: a new one. */
  readonly id: string | null;
  readonly onClose: () => void;
}) {
  if (id === null) return <Editor id={id} query={null} loaded={null} onClose={onClose} />;
  return <ReplaceDialog id={id} onClose={onClose} />;
}

function ReplaceDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const params = { path: { id } };
  const query = useLoaded<ClientCertificate>(`client certificate to edit ${id}`, (signal) =>
    api.GET('/v1/client-certificates/{id}', { params, signal }),
  );
  return (
    <LoadedDialog
      title="Replace a client certificate"
      what="certificate"
      query={query}
      onClose={onClose}
    >
      {(loaded) => <Editor id={id} query={query} loaded={loaded} onClose={onClose} />}
    </LoadedDialog>
  );
}

function Editor({
  id,
  query,
  loaded,
  onClose,
}: {
  /** Null: a new one. */
  readonly id: string | null;
  readonly query: Query<Loaded<ClientCertificate>> | null;
  readonly loaded: Loaded<ClientCertificate> | null;
  readonly onClose: () => void;
}) {
  const edited = useEdited({
    loaded,
    formOf,
    initial: NEW,
    ...(query === null ? {} : { reload: query.reload }),
  });
  const { base, form, saving } = edited;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag, idempotencyKey) => {
      const { host, cert, key, passphrase, ca } = sent;
      const shared = { host, cert, ca: ca === '' ? null : ca };
      const secret = { key, passphrase: passphrase === '' ? null : passphrase };
      if (id === null) {
        const { data } = await api.POST('/v1/client-certificates', {
          params: { header: { 'Idempotency-Key': idempotencyKey } },
          body: { ...shared, ...secret },
        });
        return { resource: data as ClientCertificate, etag: null };
      }
      const { data, response } = await api.PATCH('/v1/client-certificates/{id}', {
        params: { path: { id }, header: etag === null ? {} : { 'If-Match': etag } },
        // Without a new key the stored one is kept.
        body: { ...shared, ...(key === '' ? {} : secret) },
      });
      return { resource: data as ClientCertificate, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    reloadClientCertificates();
    onClose();
    showToast({
      kind: 'pass',
      text: `Checks present the certificate to ${form.host} from now on.`,
    });
  };
  const fieldOf = (name: keyof Form) => ({
    value: form[name],
    onValue: (value: string) => edited.change({ [name]: value }),
    problem: problemOf(saving.problems, name),
  });
  return (
    <FormDialog
      title={id === null ? 'Add a client certificate' : `Replace the certificate of ${base.host}`}
      submit={id === null ? 'Add the certificate' : 'Save'}
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Host"
        hint="A domain such as api.example.com, *.example.com for one more label, or an IP address."
        maxLength={255}
        autocomplete="off"
        required
        {...fieldOf('host')}
      />
      <PemField
        label="Certificate"
        hint="In PEM format, followed by the other certificates of its chain."
        {...fieldOf('cert')}
      />
      <PemField
        label={id === null ? 'Private key' : 'New private key'}
        hint={
          id === null
            ? 'In PEM. It is stored encrypted and never shown.'
            : 'Leave it empty to keep the stored one, which is never shown.'
        }
        {...fieldOf('key')}
      />
      <TextField
        label="Passphrase"
        hint="Only if the private key is encrypted."
        type="password"
        autocomplete="new-password"
        {...fieldOf('passphrase')}
      />
      <PemField
        label="CA certificates"
        hint="Optional: trusted for this host, in addition to the standard ones."
        {...fieldOf('ca')}
      />
      {edited.isOutdated && id !== null ? (
        <Outdated kind="client-certificate" id={id} what="certificate" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
      <FormError error={query?.error.value ?? null} fields={[]} />
    </FormDialog>
  );
}

/** PEM text, pasted or from a file. The text stays in the browser until the form is sent. */
function PemField(props: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly problem: string | null;
}) {
  const read = async (input: HTMLInputElement): Promise<void> => {
    const [file] = input.files ?? [];
    if (file !== undefined) props.onValue(await file.text());
    // Allows choosing the same file again.
    input.value = '';
  };
  return (
    <div class="certificates-pem">
      <TextAreaField rows={3} placeholder="-----BEGIN …" {...props} />
      <label class="certificates-file">
        <span>From a file</span>
        <input
          type="file"
          aria-label={`${props.label} from a file`}
          onChange={(event) => void read(event.currentTarget)}
        />
      </label>
    </div>
  );
}
