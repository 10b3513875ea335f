import { once } from 'node:events';
import { WebSocket } from 'undici';
import { onTestFinished } from 'vitest';
import type { Running } from '../../../support/service/deployment.ts';

/** For the environment of our processes: the inspector listens on a free port of loopback. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** Inspects a process that was started with INSPECTED, without changing it. */
export interface Inspector {
  /** Bytes of JavaScript objects after a full collection. */
  heapBytes(): Promise<number>;
  /** The value of an expression, which must be JSON. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Applies a function to all living objects with this prototype; collects garbage first. */
  ofAll<Value>(prototype: string, fold: string): Promise<Value>;
  /** A process does not end while an inspector is connected. */
  close(): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface Evaluated {
  readonly result: { readonly value?: unknown; readonly objectId?: string };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: unknown };
}

/** The part of the Chrome DevTools protocol that this needs. Closed with the test. */
export async function inspect(running: Running): Promise<Inspector> {
  const log = await running.logged(/Debugger listening on (ws:\S+)/);
  const url = /Debugger listening on (ws:\S+)/.exec(log)?.[1] ?? '';
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id === undefined) return;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const gone = once(socket, 'close');
  socket.addEventListener('close', () => {
    for (const [id, answered] of waiting) answered({ id, error: { message: 'it has ended' } });
  });
  await once(socket, 'open');

  let last = 0;
  const send = async <Result>(method: string, params: object = {}): Promise<Result> => {
    last += 1;
    const id = last;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  };
  const readValue = ({ result, exceptionDetails }: Evaluated): unknown => {
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  const objectGroup = 'looked-at';
  const inspector: Inspector = {
    async heapBytes() {
      await send('HeapProfiler.collectGarbage');
      return (await send<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize;
    },
    async evaluate<Value>(expression: string) {
      const params = { expression, returnByValue: true };
      return readValue(await send<Evaluated>('Runtime.evaluate', params)) as Value;
    },
    async ofAll<Value>(prototype: string, fold: string) {
      const found = await send<Evaluated>('Runtime.evaluate', {
        expression: prototype,
        objectGroup,
      });
      const asked = { prototypeObjectId: found.result.objectId, objectGroup };
      const { objects } = await send<{ objects: { objectId: string } }>(
        'Runtime.queryObjects',
        asked,
      );
      const call = { functionDeclaration: fold, returnByValue: true, objectId: objects.objectId };
      const folded = await send<Evaluated>('Runtime.callFunctionOn', call);
      await send('Runtime.releaseObjectGroup', { objectGroup });
      return readValue(folded) as Value;
    },
    async close() {
      socket.close();
      await gone;
    },
  };
  onTestFinished(() => socket.close());
  return inspector;
}
