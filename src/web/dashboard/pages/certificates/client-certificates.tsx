import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { counted } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import type { Column } from '../../parts/table.tsx';
import { showToast } from '../../parts/toast.tsx';
import { ClientCertificateDialog } from './client-certificate-dialog.tsx';
import { ChecksOf, DaysLeft, Issuer, Names, ValidUntil } from './facts.tsx';
import {
  type ClientCertificateUse,
  reloadClientCertificates,
  useClientCertificates,
} from './queries.ts';

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'delete'; readonly certificate: ClientCertificateUse };

/** The certificates that checks present to hosts. */
export function ClientCertificates() {
  const list = useClientCertificates();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  return (
    <>
      <ListPanel
        title="Client certificates"
        list={list}
        columns={may('admin') ? [...COLUMNS, actions(setOpen)] : COLUMNS}
        keyOf={({ id }) => id}
        actions={
          may('admin') && (
            <Button kind="primary" onClick={() => setOpen({ kind: 'new' })}>
              Add a certificate
            </Button>
          )
        }
        empty={
          <p>
            There is none. Targets with mutual TLS ask who connects: add a certificate for their
            host, and checks present it there.
            {!may('admin') && ' Only admins of the account add them.'}
          </p>
        }
      />
      {open?.kind === 'new' && <ClientCertificateDialog id={null} onClose={close} />}
      {open?.kind === 'edit' && (
        <ClientCertificateDialog id={open.certificate.id} onClose={close} />
      )}
      {open?.kind === 'delete' && <Remove certificate={open.certificate} onClose={close} />}
    </>
  );
}

const COLUMNS: readonly Column<ClientCertificateUse>[] = [
  { name: 'host', head: 'Host', cell: ({ host }) => <code>{host}</code> },
  {
    name: 'days',
    head: 'Expires in',
    cell: ({ daysRemaining }) => (daysRemaining === null ? '–' : <DaysLeft days={daysRemaining} />),
  },
  {
    name: 'names',
    head: 'Certificate',
    cell: ({ certificate }) => (certificate === null ? '–' : <Names facts={certificate} />),
  },
  {
    name: 'issuer',
    head: 'Issued by',
    isOptional: true,
    cell: ({ certificate }) => (certificate === null ? '–' : <Issuer facts={certificate} />),
  },
  {
    name: 'until',
    head: 'Valid until',
    cell: ({ certificate }) => <ValidUntil facts={certificate} />,
  },
  {
    name: 'checks',
    head: 'Used by',
    cell: ({ checks, checkCount }) => <ChecksOf checks={checks} total={checkCount} />,
  },
];

function actions(onOpen: (open: Open) => void): Column<ClientCertificateUse> {
  return {
    name: 'actions',
    head: <span class="visually-hidden">Actions</span>,
    cell: (certificate) => (
      <span class="certificates-actions">
        <Button
          class="small"
          aria-label={`Replace the certificate of ${certificate.host}`}
          onClick={() => onOpen({ kind: 'edit', certificate })}
        >
          Replace
        </Button>
        <Button
          class="small"
          aria-label={`Delete the certificate of ${certificate.host}`}
          onClick={() => onOpen({ kind: 'delete', certificate })}
        >
          Delete
        </Button>
      </span>
    ),
  };
}

function Remove({
  certificate: { id, host, checks, checkCount },
  onClose,
}: {
  readonly certificate: ClientCertificateUse;
  readonly onClose: () => void;
}) {
  const run = async (): Promise<void> => {
    await ensureDeleted(api.DELETE('/v1/client-certificates/{id}', { params: { path: { id } } }));
    reloadClientCertificates();
    showToast({ kind: 'plain', text: `The client certificate for ${host} is deleted.` });
  };
  return (
    <Confirm
      title={`Delete the certificate for ${host}`}
      action="Delete the certificate"
      removesOpener
      run={run}
      onClose={onClose}
    >
      <p>Its private key is deleted with it. Nobody can read it, so it cannot be restored.</p>
      {checkCount > 0 && (
        <>
          <p class="failing">
            {counted(checkCount, 'check')} of this host {checkCount === 1 ? 'goes' : 'go'} on
            without it:
          </p>
          <ChecksOf checks={checks} total={checkCount} />
        </>
      )}
    </Confirm>
  );
}
