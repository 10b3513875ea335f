import { z } from 'zod';
import { JSON_TYPE, type ServiceRules, TOKEN, text, time } from './rules.ts';

/** Events API v2. */
export const pagerduty: ServiceRules = {
  config: (origin) => ({ url: origin, routingKey: 'R0b1C2d3'.repeat(4) }),
  requests: [
    {
      method: 'POST',
      path: /^\/v2\/enqueue$/,
      headers: JSON_TYPE,
      maxBytes: 512 * 1024,
      body: z.strictObject({
        routing_key: z.string().length(32),
        event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
        dedup_key: text(255),
        payload: z.strictObject({
          summary: text(1024),
          source: text(1024),
          severity: z.enum(['critical', 'error', 'warning', 'info']),
          timestamp: time,
          component: z.string(),
          group: z.string().optional(),
          class: z.string(),
          custom_details: z.record(z.string(), z.string()),
        }),
        client: z.string(),
        client_url: z.url().optional(),
        links: z.array(z.strictObject({ href: z.url(), text: z.string() })).optional(),
      }),
      problem: ({ dedup_key, event_action }: { dedup_key: string; event_action: string }) => ({
        key: dedup_key,
        isOver: event_action === 'resolve',
      }),
    },
  ],
  answer: { status: 202, body: '{"status":"success","message":"Event processed"}' },
};

const GENIE = { ...JSON_TYPE, authorization: new RegExp(`^GenieKey ${TOKEN}$`) };
const CHANGE = /^\/v2\/alerts\/([^/?]+)\/(close|acknowledge)\?identifierType=alias$/;

/** Alert API: create, and acknowledge and close by alias. */
export const opsgenie: ServiceRules = {
  config: (origin) => ({ url: origin, apiKey: TOKEN }),
  requests: [
    {
      method: 'POST',
      path: /^\/v2\/alerts$/,
      headers: GENIE,
      body: z.strictObject({
        message: text(130),
        alias: text(512),
        description: z.string().max(15_000),
        priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
        source: z.string().max(100),
        entity: z.string().max(512),
        tags: z.array(z.string().max(50)).max(20),
        details: z
          .record(z.string(), z.string())
          .refine((details) => JSON.stringify(details).length <= 8000),
      }),
      problem: ({ alias }: { alias: string }) => ({ key: alias, isOver: false }),
    },
    {
      method: 'POST',
      path: CHANGE,
      headers: GENIE,
      body: z.strictObject({ source: z.string().max(100), note: z.string().max(25_000) }),
      problem: (_, path) => {
        const [, alias = '', change] = CHANGE.exec(path) ?? [];
        return { key: decodeURIComponent(alias), isOver: change === 'close' };
      },
    },
  ],
  answer: { status: 202, body: '{"result":"Request will be processed"}' },
};

/** Alert events of an HTTP source. */
export const incidentIo: ServiceRules = {
  config: (origin) => ({ url: `${origin}/v2/alert_events/http/01ABC`, token: TOKEN }),
  requests: [
    {
      method: 'POST',
      path: /^\/v2\/alert_events\/http\/01ABC$/,
      headers: { ...JSON_TYPE, authorization: new RegExp(`^Bearer ${TOKEN}$`) },
      body: z.strictObject({
        title: z.string().min(1),
        status: z.enum(['firing', 'resolved']),
        deduplication_key: z.string().min(1),
        description: z.string(),
        source_url: z.url().optional(),
        metadata: z.record(z.string(), z.unknown()),
      }),
      problem: (body: { deduplication_key: string; status: string }) => ({
        key: body.deduplication_key,
        isOver: body.status === 'resolved',
      }),
    },
  ],
  answer: { status: 202, body: '{"status":"success"}' },
};

/** API v2: the labels identify an alert, and a past end resolves it. The alert of the notice is first. */
export const alertmanager: ServiceRules = {
  config: (origin) => ({ url: `${origin}/am`, username: 'ops', password: TOKEN }),
  requests: [
    {
      method: 'POST',
      path: /^\/am\/api\/v2\/alerts$/,
      headers: {
        ...JSON_TYPE,
        authorization: new RegExp(`^Basic ${Buffer.from(`ops:${TOKEN}`).toString('base64')}$`),
      },
      body: z
        .array(
          z
            .strictObject({
              labels: z
                .record(z.string().regex(/^[a-zA-Z_]\w*$/), z.string().min(1))
                .refine(({ alertname }) => alertname !== undefined),
              annotations: z.record(z.string().regex(/^[a-zA-Z_]\w*$/), z.string()),
              startsAt: time.optional(),
              endsAt: time.optional(),
              generatorURL: z.url().optional(),
            })
            .refine(({ startsAt, endsAt }) => {
              if (startsAt === undefined || endsAt === undefined) return true;
              return Date.parse(startsAt) <= Date.parse(endsAt);
            }),
        )
        .min(1),
      problem: (
        [{ labels, endsAt }]: [{ labels: { key: string }; endsAt?: string }],
        _,
        nowMs,
      ) => ({
        key: labels.key,
        isOver: endsAt !== undefined && Date.parse(endsAt) <= nowMs,
      }),
    },
  ],
  answer: { status: 200, body: '' },
};
