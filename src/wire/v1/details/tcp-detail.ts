import { z } from 'zod';
import { TCP_STEP_FORMATS } from '../../../model/check/request/tcp.ts';
import { duration } from '../durations.ts';
import { boundedList, text } from '../fields.ts';
import {
  commonDetail,
  end,
  families,
  familyChoice,
  host,
  hostname,
  ipFamily,
  PHASE_TIMES,
  PHASES,
  port,
  SENT,
  TIMINGS,
  tcpFacts,
  tlsFacts,
  UNTIL,
} from './common-detail.ts';

/** 64 KiB of data, scrubbed. */
const MAX_TCP_CHARS = 262_144;

/** `send` is cut at 1,000 characters, which masks may make longer. */
const tcpStep = z
  .object({
    send: text(8192)
      .nullable()
      .describe('What was sent, cut at 1,000 characters; null for nothing.'),
    expect: text(16_384).nullable().describe('What had to arrive; null for nothing.'),
    format: z
      .enum(TCP_STEP_FORMATS)
      .describe('HEX: `send` and `expect` are bytes as hexadecimal digits.'),
  })
  .meta({ title: 'SentTcpStep' });

export const tcpDetail = z
  .object({
    request: z
      .object({
        hostname,
        port,
        data: text(MAX_TCP_CHARS).nullable().describe('The text that was sent; null for none.'),
        steps: boundedList(tcpStep, 20)
          .exactOptional()
          .describe('The steps of the check; omitted if it has none.'),
        ipFamily: familyChoice,
      })
      .describe(SENT),
    response: z
      .object({
        data: text(MAX_TCP_CHARS).describe('What arrived, at most 64 KiB.'),
        address: host.describe('The address of the connection.'),
        port,
        ipFamily,
      })
      .nullable()
      .describe('What came back; null without a connection.'),
    ...commonDetail,
    timings: z
      .object({
        lookup: UNTIL.lookup,
        connect: UNTIL.connect,
        secureConnect: UNTIL.secureConnect
          .exactOptional()
          .describe(`${UNTIL.secureConnect.description} Omitted without TLS.`),
        response: UNTIL.response,
        end,
      })
      .describe(TIMINGS),
    timingPhases: z
      .object({
        dns: PHASES.dns,
        connection: PHASES.tcp,
        tls: PHASES.tls.exactOptional().describe(`${PHASES.tls.description} Omitted without TLS.`),
        data: duration.describe('Milliseconds for sending and receiving.'),
        total: PHASES.total,
      })
      .describe(PHASE_TIMES),
    tcp: tcpFacts,
    tls: tlsFacts
      .nullable()
      .exactOptional()
      .describe('TLS, also of a handshake that failed; null without it.'),
    families,
  })
  .meta({ title: 'TcpCheckResult' });
