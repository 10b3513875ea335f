import { useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { counted } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import './snippets.css';
import { DeleteSnippet } from './delete-snippet.tsx';
import { type Snippet, useSnippets } from './queries.ts';
import { SnippetDialog } from './snippet-dialog.tsx';

/** The open dialog. */
type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'delete'; readonly snippet: Snippet };

/** The snippets of the account, oldest first. */
export function Page() {
  const list = useSnippets();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const newButton = may('write') && (
    <Button kind="primary" onClick={() => setOpen({ kind: 'new' })}>
      New snippet
    </Button>
  );
  const isEmpty = list.query.data.value?.entries.length === 0;
  return (
    <>
      <PageHeader title="Snippets" actions={!isEmpty && newButton} />
      <ListPanel
        title="Snippets of the account"
        list={list}
        columns={may('write') ? [...COLUMNS, actionsColumn(setOpen)] : COLUMNS}
        keyOf={({ id }) => String(id)}
        empty={
          <EmptyState title="There is no snippet yet">
            <p>
              A snippet keeps a piece of code under a name, for scripts that read it from{' '}
              <code>/v1/snippets</code>. API checks and groups run it before their request or after
              the response.
            </p>
            {may('write') ? (
              <p class="snippets-first">{newButton}</p>
            ) : (
              <p>Users of the roles write and admin make them.</p>
            )}
          </EmptyState>
        }
      />
      {open?.kind === 'new' && <SnippetDialog id={null} onClose={close} />}
      {open?.kind === 'edit' && <SnippetDialog id={open.snippet.id} onClose={close} />}
      {open?.kind === 'delete' && <DeleteSnippet snippet={open.snippet} onClose={close} />}
    </>
  );
}

/** The most characters of a script to show in its row: a script may have 500,000. */
const MAX_SHOWN = 200;

const COLUMNS: readonly Column<Snippet>[] = [
  { name: 'name', head: 'Name', cell: ({ name }) => <span class="snippets-name">{name}</span> },
  { name: 'script', head: 'Script', cell: ({ script }) => <Script script={script} /> },
  {
    name: 'lines',
    head: 'Length',
    isOptional: true,
    cell: ({ script }) => counted(linesOf(script), 'line'),
  },
  {
    name: 'changed',
    head: 'Changed',
    isOptional: true,
    cell: ({ created_at, updated_at }) => <TimeText at={updated_at ?? created_at} />,
  },
];

function Script({ script }: { readonly script: string }) {
  const first = script.trimStart().slice(0, MAX_SHOWN).split('\n', 1)[0] ?? '';
  if (first === '') return <span class="muted">empty</span>;
  return <code class="snippets-script">{first}</code>;
}

function linesOf(script: string): number {
  return script === '' ? 0 : script.replace(/\n$/, '').split('\n').length;
}

function actionsColumn(onOpen: (open: Open) => void): Column<Snippet> {
  return {
    name: 'actions',
    head: <span class="visually-hidden">Actions</span>,
    cell: (snippet) => (
      <span class="snippets-actions">
        <Button
          class="small"
          aria-label={`Edit ${snippet.name}`}
          onClick={() => onOpen({ kind: 'edit', snippet })}
        >
          Edit
        </Button>
        <Button
          class="small"
          aria-label={`Delete ${snippet.name}`}
          onClick={() => onOpen({ kind: 'delete', snippet })}
        >
          Delete
        </Button>
      </span>
    ),
  };
}
