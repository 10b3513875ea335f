import { describe, expect, it } from 'vitest';
import { loadServiceConfig } from '../../../../src/service/config.ts';

const URL_SET = { RCA_URL: 'https://models.test/v1/', RCA_MODEL: 'a-model' };

describe('who makes root cause analyses', () => {
  it('are the rules alone, where nothing is said', () => {
    expect(loadServiceConfig({}).rootCause).toEqual({ model: null });
  });

  it('is a model, too', () => {
    expect(loadServiceConfig(URL_SET).rootCause.model).toEqual({
      url: 'https://models.test/v1',
      apiKey: null,
      model: 'a-model',
      timeoutMs: 60_000,
      dailyLimit: 100,
    });
    const all = { RCA_API_KEY: 'sk-1', RCA_TIMEOUT_SECONDS: '600', RCA_DAILY_LIMIT: '0' };
    expect(loadServiceConfig({ ...URL_SET, ...all }).rootCause.model).toMatchObject({
      apiKey: 'sk-1',
      timeoutMs: 600_000,
      dailyLimit: 0,
    });
  });

  it.each([
    [{ RCA_URL: 'https://models.test/v1' }, 'RCA_URL is set and RCA_MODEL is not: set RCA_MODEL'],
    [{ RCA_MODEL: 'm' }, 'RCA_MODEL is set and RCA_URL is not'],
    [{ RCA_DAILY_LIMIT: '5' }, 'RCA_DAILY_LIMIT is set and RCA_URL is not'],
    [{ RCA_API_KEY: 'hunter2' }, 'RCA_API_KEY is set and RCA_URL is not'],
    [{ ...URL_SET, RCA_URL: 'models.test' }, 'it must be an http or https URL'],
    [{ ...URL_SET, RCA_URL: 'file:///v1' }, 'it must be an http or https URL'],
    [{ ...URL_SET, RCA_URL: 'https://u:hunter2@models.test/v1' }, 'without credentials'],
    [{ ...URL_SET, RCA_URL: 'https://models.test/v1?key=hunter2' }, 'without credentials'],
    [{ ...URL_SET, RCA_API_KEY: 'hunter2 hunter2' }, 'RCA_API_KEY is malformed'],
    [{ ...URL_SET, RCA_TIMEOUT_SECONDS: '601' }, 'from 1 to 600'],
    [{ ...URL_SET, RCA_DAILY_LIMIT: '-1' }, 'from 0 to 1000000'],
  ])('refuses %j', (env, text) => {
    let message = '';
    try {
      loadServiceConfig(env);
    } catch (error) {
      message = error instanceof Error ? error.message : '';
    }
    expect(message).toContain(text);
    expect(message).not.toMatch(/\n|hunter2/);
  });
});
