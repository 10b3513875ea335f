import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import { FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useSaving } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { reloadClientCertificates } from './queries.ts';

const FIELDS = ['host', 'cert', 'key', 'passphrase', 'ca'];
const NEW = { host: '', cert: '', key: '', passphrase: '', ca: '' };
type Form = typeof NEW;

/** Adds a client certificate, or replaces what is given of one. */
export function ClientCertificateDialog({
  id,
  onClose,
}: {
  /** Null: a new one. */
  readonly id: string | null;
  readonly onClose: () => void;
}) {
  const [base, setBase] = useState<Form>(NEW);
  const [etag, setEtag] = useState<string | null>(null);
  const [form, setForm] = useState<Form>(NEW);
  const saving = useSaving();
  const [isLost, setLost] = useState<string | null>(null);

  const load = async (path: { readonly id: string }, signal?: AbortSignal): Promise<void> => {
    const { data, response } = await api.GET('/v1/client-certificates/{id}', {
      params: { path },
      ...(signal === undefined ? {} : { signal }),
    });
    const stored = { ...NEW, host: data?.host ?? '', cert: data?.cert ?? '', ca: data?.ca ?? '' };
    setBase(stored);
    setForm(stored);
    setEtag(response.headers.get('etag'));
    saving.forget();
    setLost(null);
  };
  useEffect(() => {
    if (id === null) return;
    const ended = new AbortController();
    load({ id }, ended.signal).catch(
      (thrown) => !ended.signal.aborted && setLost(asApiError(thrown).message),
    );
    return () => ended.abort();
  }, []);

  const send = async (idempotencyKey: string): Promise<void> => {
    const { host, cert, key, passphrase, ca } = form;
    const shared = { host, cert, ca: ca === '' ? null : ca };
    const secret = { key, passphrase: passphrase === '' ? null : passphrase };
    if (id === null) {
      const params = { header: { 'Idempotency-Key': idempotencyKey } };
      await api.POST('/v1/client-certificates', { params, body: { ...shared, ...secret } });
      return;
    }
    const header = etag === null ? {} : { 'If-Match': etag };
    await api.PATCH('/v1/client-certificates/{id}', {
      params: { path: { id }, header },
      // Without a new key the stored one is kept.
      body: { ...shared, ...(key === '' ? {} : secret) },
    });
  };
  const save = async (): Promise<void> => {
    if (!(await saving.run(send))) return;
    reloadClientCertificates();
    onClose();
    showToast({
      kind: 'pass',
      text: `Checks present the certificate to ${form.host} from now on.`,
    });
  };
  const fieldOf = (name: keyof Form) => ({
    value: form[name],
    onValue: (value: string) => setForm((old) => ({ ...old, [name]: value })),
    problem: problemOf(saving.problems, name),
  });
  return (
    <FormDialog
      title={id === null ? 'Add a client certificate' : `Replace the certificate of ${base.host}`}
      submit={id === null ? 'Add the certificate' : 'Save'}
      isBusy={saving.isBusy}
      isChanged={JSON.stringify(form) !== JSON.stringify(base)}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Host"
        hint="A domain such as api.example.com, or *.example.com for one more label."
        maxLength={255}
        autocomplete="off"
        required
        {...fieldOf('host')}
      />
      <PemField
        label="Certificate"
        hint="In PEM, with those of its chain behind it."
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
        label="Certificates of authorities"
        hint="Optional: trusted for this host, in addition to the usual ones."
        {...fieldOf('ca')}
      />
      {saving.isOutdated && id !== null ? (
        <Outdated
          kind="client-certificate"
          id={id}
          what="certificate"
          onLoad={() => void load({ id }).catch((thrown) => setLost(asApiError(thrown).message))}
        />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
      {isLost !== null && (
        <p class="form-error" role="alert">
          {isLost}
        </p>
      )}
    </FormDialog>
  );
}

/** PEM text, pasted or from a file, which stays in the browser until the form is sent. */
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
    // The same file can be chosen again.
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
