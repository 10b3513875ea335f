import type { Part } from './part.ts';
import { alertsPart } from './parts/alerts.ts';
import { analyticsPart } from './parts/analytics.ts';
import { dnsPart } from './parts/dns.ts';
import { floodsPart } from './parts/floods.ts';
import { hangingPart } from './parts/hanging.ts';
import { httpPart } from './parts/http.ts';
import { httpsPart } from './parts/https.ts';
import { icmpPart } from './parts/icmp.ts';
import { memoryPart } from './parts/memory.ts';
import { overviewPart } from './parts/overview.ts';
import { runPart } from './parts/run.ts';
import { schedulePart } from './parts/schedule.ts';
import { scrubPart } from './parts/scrub.ts';
import { servicePart } from './parts/service.ts';
import { startPart } from './parts/start.ts';
import { statusPagePart } from './parts/status-page.ts';
import { subscribersPart } from './parts/subscribers.ts';
import { tcpPart } from './parts/tcp.ts';
import { timesPart } from './parts/times.ts';
import { uploadPart } from './parts/upload.ts';

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
