import { z } from 'zod';
import { JSON_TYPE, type ServiceRules, TOKEN, text } from './rules.ts';

/** Publish as JSON. */
export const ntfy: ServiceRules = {
  config: (origin) => ({ url: origin, topic: 'alerts', token: TOKEN }),
  requests: [
    {
      method: 'POST',
      path: /^\/$/,
      headers: { ...JSON_TYPE, authorization: new RegExp(`^Bearer ${TOKEN}$`) },
      body: z.strictObject({
        topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
        title: z.string(),
        message: z.string().refine((message) => Buffer.byteLength(message) <= 4096),
        priority: z.int().min(1).max(5),
        tags: z.array(z.string()),
        click: z.url().optional(),
      }),
    },
  ],
  answer: { status: 200, body: '{"id":"1","event":"message"}' },
};

/** Message API. */
export const pushover: ServiceRules = {
  config: (origin) => ({
    url: origin,
    token: 'aZ3'.repeat(10),
    userKey: 'uQ7'.repeat(10),
    device: 'phone',
  }),
  requests: [
    {
      method: 'POST',
      path: /^\/1\/messages\.json$/,
      headers: { 'content-type': /^application\/x-www-form-urlencoded\b/ },
      body: z.strictObject({
        token: z.string().length(30),
        user: z.string().length(30),
        message: text(1024),
        title: z.string().max(250),
        priority: z.enum(['-2', '-1', '0', '1']),
        timestamp: z.string().regex(/^\d+$/),
        device: z.string().regex(/^[\w-]{1,25}$/),
        url: z.string().max(512).optional(),
        url_title: z.string().max(100).optional(),
      }),
    },
  ],
  answer: { status: 200, body: '{"status":1,"request":"r"}' },
};

/** POST /message of an application. */
export const gotify: ServiceRules = {
  config: (origin) => ({ url: `${origin}/gotify/`, token: TOKEN }),
  requests: [
    {
      method: 'POST',
      path: /^\/gotify\/message$/,
      headers: { ...JSON_TYPE, 'x-gotify-key': new RegExp(`^${TOKEN}$`) },
      body: z.strictObject({
        title: z.string(),
        message: z.string().min(1),
        priority: z.int().min(0).max(10),
        extras: z.strictObject({
          'client::display': z.strictObject({
            contentType: z.enum(['text/plain', 'text/markdown']),
          }),
          'client::notification': z
            .strictObject({ click: z.strictObject({ url: z.url() }) })
            .optional(),
        }),
      }),
    },
  ],
  answer: { status: 200, body: '{"id":1}' },
};
