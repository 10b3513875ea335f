import type { CheckType } from '../check/model.ts';
import { CHECK_TYPES } from './types.ts';

const TYPE_TEXTS: Readonly<Record<CheckType, string>> = {
  URL: 'A page answers',
  API: 'A request, its response judged',
  TCP: 'A port accepts connections',
  DNS: 'A name resolves',
  ICMP: 'A host answers pings',
};

/** The choice of the type of a new check. */
export function TypeChoice({
  type,
  onType,
}: {
  readonly type: CheckType;
  readonly onType: (type: CheckType) => void;
}) {
  return (
    <fieldset class="editing-types editing-wide">
      <legend class="visually-hidden">Type</legend>
      {CHECK_TYPES.map((each) => (
        <label key={each}>
          <input
            type="radio"
            name="checkType"
            value={each}
            checked={each === type}
            onChange={() => onType(each)}
          />
          <span>
            <b>{each}</b>
            <span class="muted">{TYPE_TEXTS[each]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Warns that a check file will overwrite changes made here. */
export function ManagedByFile({ logicalId }: { readonly logicalId: string | null }) {
  if (logicalId === null) return null;
  return (
    <p class="editing-note">
      A check file manages this check as <code>{logicalId}</code>. The next{' '}
      <code>vedette apply</code> of that file replaces what is changed here.
    </p>
  );
}
