import { CheckField } from '../../parts/field.tsx';
import { count, counted } from '../../parts/formats.ts';
import { type Audience, useAudience } from './queries.ts';

/** The number of notified subscribers. */
export function audienceText({ pages, subscribers, isMore }: Audience): string {
  if (pages.length === 0) return 'No page shows these services: nobody is notified.';
  if (subscribers === 0) return `Nobody has subscribed to ${pageNames(pages)} yet.`;
  const most = isMore ? `More than ${count(subscribers)}` : `Up to ${count(subscribers)}`;
  const who = subscribers === 1 && !isMore ? 'subscriber' : 'subscribers';
  return `${most} ${who} of ${pageNames(pages)} will be notified.`;
}

function pageNames(pages: Audience['pages']): string {
  const [first] = pages;
  return pages.length === 1 && first !== undefined ? first.name : counted(pages.length, 'page');
}

/** Asks whether subscribers are notified, and says how many there are. */
export function NotifyField({
  services,
  isDraft,
  isChecked,
  onValue,
}: {
  readonly services: readonly string[];
  readonly isDraft: boolean;
  readonly isChecked: boolean;
  readonly onValue: (isChecked: boolean) => void;
}) {
  const { data, error } = useAudience(services);
  const audience = data.value;
  const text =
    audience !== null
      ? audienceText(audience)
      : error.value !== null
        ? 'How many there are could not be read.'
        : 'Counting…';
  return (
    <CheckField
      label="Notify the subscribers"
      hint={isDraft ? `${text} They are notified when the draft is published.` : text}
      isChecked={isChecked}
      onValue={onValue}
    />
  );
}
