import { type Explanation, RESULT_STATES } from './model.ts';

/** Why it did not pass, and what to do first. */
export function WhatToTry({ explanation }: { readonly explanation: Explanation }) {
  const { result, reasons, errorCode, meaning, advice, phase } = explanation;
  if (reasons.length === 0 && advice === null) return null;
  return (
    <section class={`check-why ${RESULT_STATES[result]}`} aria-label="Why, and what to try">
      <ul>
        {reasons.map((reason, index) => (
          <li key={index}>
            <Reason text={reason} code={errorCode} />
          </li>
        ))}
      </ul>
      {meaning !== null && <p class="muted">{meaning}</p>}
      {advice !== null && (
        <p>
          <b>What to try.</b> {advice}{' '}
          {phase !== null && <span class="muted">(phase: {phase})</span>}
        </p>
      )}
    </section>
  );
}

/** A reason that begins with the code of its error. */
export function Reason({ text, code }: { readonly text: string; readonly code: string | null }) {
  const prefix = `${code}: `;
  if (code === null || !text.startsWith(prefix)) return <>{text}</>;
  return (
    <>
      <code class="failing">{code}</code> {text.slice(prefix.length)}
    </>
  );
}
