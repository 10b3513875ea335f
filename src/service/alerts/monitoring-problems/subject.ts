import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';

/** The subject of a problem. */
export type ProblemSubject =
  | { readonly kind: 'location'; readonly id: string; readonly slug: string; readonly name: string }
  | {
      readonly kind: 'channel';
      readonly id: number;
      readonly type: AlertChannelType;
      readonly name: string;
    }
  | { readonly kind: 'disk' };

export function subjectName(subject: ProblemSubject): string {
  switch (subject.kind) {
    case 'location':
      return `Location ${subject.name}`;
    case 'channel':
      return `Channel ${subject.name}`;
    default:
      return 'The disk of the database';
  }
}
