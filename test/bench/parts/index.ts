import type { Part } from '../part.ts';
import { alertsPart } from '../service/alerts-part.ts';
import { analyticsPart } from './analytics.ts';
import { dnsPart } from './dns.ts';
import { floodsPart } from './floods.ts';
import { hangingPart } from './hanging.ts';
import { httpPart } from './http.ts';
import { httpsPart } from './https.ts';
import { icmpPart } from './icmp.ts';
import { memoryPart } from './memory.ts';
import { overviewPart } from './overview.ts';
import { runPart } from './run.ts';
import { schedulePart } from './schedule.ts';
import { scrubPart } from './scrub.ts';
import { servicePart } from './service.ts';
import { startPart } from './start.ts';
import { statusPagePart } from './status-page.ts';
import { subscribersPart } from './subscribers.ts';
import { tcpPart } from './tcp.ts';
import { timesPart } from './times.ts';
import { uploadPart } from './upload.ts';

/** In the order of the measurements and of the table. */
export const PARTS: readonly Part[] = [
  httpPart,
  httpsPart,
  tcpPart,
  dnsPart,
  icmpPart,
  timesPart,
  schedulePart,
  hangingPart,
  floodsPart,
  memoryPart,
  startPart,
  runPart,
  uploadPart,
  servicePart,
  alertsPart,
  scrubPart,
  statusPagePart,
  subscribersPart,
  overviewPart,
  analyticsPart,
];
