import { useRef, useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useServices } from '../incidents/queries.ts';
import { type CardForm, movedTo } from './page-form.ts';
import { forgetPages } from './queries.ts';

interface Dragged {
  /** `cards`, or the key of the card whose services are moved. */
  readonly list: string;
  readonly from: number;
}

/** The cards of a page and their services, in order. They are moved by buttons or dragged. */
export function CardsEditor({
  cards,
  onChange,
  onOpen,
}: {
  readonly cards: readonly CardForm[];
  readonly onChange: (cards: readonly CardForm[]) => void;
  /** Opens a service, by its id. */
  readonly onOpen: (id: string) => void;
}) {
  const dragged = useRef<Dragged | null>(null);
  const nextKey = useRef(1);
  const services = useServices();
  const known = services.data.value;
  const change = (index: number, fields: Partial<CardForm>): void =>
    onChange(cards.map((card, at) => (at === index ? { ...card, ...fields } : card)));
  const dropAt = (list: string, index: number, move: (from: number, to: number) => void) => ({
    onDragOver: (event: DragEvent) => {
      if (dragged.current?.list === list) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      const { current } = dragged;
      if (current?.list !== list) return;
      event.preventDefault();
      event.stopPropagation();
      dragged.current = null;
      move(current.from, index);
    },
  });
  const handle = (list: string, from: number) => (
    // Not the whole entry: Firefox sets no cursor in an input of a draggable element.
    <span
      class="status-pages-handle"
      aria-hidden="true"
      draggable
      onDragStart={(event) => {
        event.stopPropagation();
        event.dataTransfer?.setData('text/plain', '');
        dragged.current = { list, from };
      }}
    >
      ⠿
    </span>
  );
  return (
    <div class="status-pages-cards">
      {cards.length === 0 && (
        <p class="muted">No card yet: readers see only incidents and maintenance.</p>
      )}
      <ol aria-label="Cards">
        {cards.map((card, index) => {
          const moveService = (from: number, to: number): void =>
            change(index, { services: movedTo(card.services, from, to) });
          const moveCard = (from: number, to: number): void => onChange(movedTo(cards, from, to));
          return (
            <li key={card.key} class="status-pages-card" {...dropAt('cards', index, moveCard)}>
              <div class="status-pages-card-head">
                {handle('cards', index)}
                <TextField
                  label={`Card ${index + 1}`}
                  value={card.name}
                  onValue={(name) => change(index, { name })}
                  maxLength={255}
                  required
                />
                <Order
                  name={card.name || `Card ${index + 1}`}
                  index={index}
                  length={cards.length}
                  onMove={(to) => moveCard(index, to)}
                  onRemove={() => onChange(cards.filter((_, at) => at !== index))}
                />
              </div>
              <ol class="status-pages-services" aria-label={`Services of ${card.name}`}>
                {card.services.map((id, at) => (
                  <li key={id} {...dropAt(card.key, at, moveService)}>
                    {handle(card.key, at)}
                    <span class="status-pages-service">{known?.get(id)?.name ?? id}</span>
                    <Button
                      class="small"
                      aria-label={`Edit ${known?.get(id)?.name ?? id}`}
                      onClick={() => onOpen(id)}
                    >
                      Edit
                    </Button>
                    <Order
                      name={known?.get(id)?.name ?? id}
                      index={at}
                      length={card.services.length}
                      onMove={(to) => moveService(at, to)}
                      onRemove={() =>
                        change(index, { services: card.services.filter((each) => each !== id) })
                      }
                    />
                  </li>
                ))}
              </ol>
              <AddService
                card={card}
                onAdd={(id) => change(index, { services: [...card.services, id] })}
              />
            </li>
          );
        })}
      </ol>
      <Button
        onClick={() =>
          onChange([
            ...cards,
            { id: null, key: `new ${nextKey.current++}`, name: 'Services', services: [] },
          ])
        }
      >
        Add a card
      </Button>
    </div>
  );
}

function Order({
  name,
  index,
  length,
  onMove,
  onRemove,
}: {
  readonly name: string;
  readonly index: number;
  readonly length: number;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}) {
  return (
    <span class="status-pages-order">
      <Button
        class="small"
        aria-label={`Move ${name} up`}
        disabled={index === 0}
        onClick={() => onMove(index - 1)}
      >
        ↑
      </Button>
      <Button
        class="small"
        aria-label={`Move ${name} down`}
        disabled={index === length - 1}
        onClick={() => onMove(index + 1)}
      >
        ↓
      </Button>
      <Button class="small" kind="danger" aria-label={`Remove ${name}`} onClick={onRemove}>
        ×
      </Button>
    </span>
  );
}

function AddService({
  card,
  onAdd,
}: {
  readonly card: CardForm;
  readonly onAdd: (id: string) => void;
}) {
  const services = useServices();
  const [name, setName] = useState('');
  const others = [...(services.data.value?.values() ?? [])].filter(
    ({ id }) => !card.services.includes(id),
  );
  const create = useAction(async () => {
    const { id } = await bodyOf(api.POST('/v1/status-pages/services', { body: { name } }));
    forgetPages();
    setName('');
    onAdd(id);
  });
  return (
    <div class="status-pages-add">
      {others.length > 0 && (
        <select
          aria-label={`Add a service to ${card.name}`}
          value=""
          onChange={(event) => {
            if (event.currentTarget.value !== '') onAdd(event.currentTarget.value);
          }}
        >
          <option value="">Add a service…</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      <input
        type="text"
        aria-label={`Name of a new service of ${card.name}`}
        placeholder="New service"
        maxLength={255}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || name.trim() === '') return;
          event.preventDefault();
          create.run();
        }}
      />
      <Button isBusy={create.isBusy} disabled={name.trim() === ''} onClick={() => create.run()}>
        Make it
      </Button>
    </div>
  );
}
