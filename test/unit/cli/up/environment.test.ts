import { describe, expect, it } from 'vitest';
import { foldersIn, loadUpConfig } from '../../../../src/cli/up/environment.ts';

const KEY = `pl_${'1'.repeat(32)}`;

function agentEnvironment(env: Readonly<Record<string, string>>, host = '127.0.0.1') {
  const config = loadUpConfig(env, foldersIn('/data'));
  return config.agentEnvironment(new URL(`http://${host}:8080/`), KEY, 8081);
}

describe('the environment of the agent that vedette up starts', () => {
  it('has what templates may use, also a variable of the service that the operator names', () => {
    const env = {
      VARIABLES_FROM_ENV: 'SHOP_TOKEN, DATABASE_URL',
      VARIABLES_DIR: '/',
      SHOP_TOKEN: 's3cret',
      DATABASE_URL: 'postgres://h/d',
      EXTERNAL_OBSERVABILITY: 'off',
    };
    expect(agentEnvironment(env)).toMatchObject(env);
    const { VARIABLES_FROM_ENV: _, ...unnamed } = env;
    expect(agentEnvironment(unnamed)).not.toHaveProperty('DATABASE_URL');
  });

  it('has the proxies, but goes to the service on this machine without', () => {
    const proxies = { HTTPS_PROXY: 'http://proxy:3128', http_proxy: 'http://proxy:3128' };
    expect(agentEnvironment(proxies)).toMatchObject({ ...proxies, NO_PROXY: '127.0.0.1' });
    const both = agentEnvironment({ ...proxies, NO_PROXY: 'a.example', no_proxy: '.b' }, '[::1]');
    expect(both).toMatchObject({ NO_PROXY: 'a.example,.b,[::1]' });
    expect(both).not.toHaveProperty('no_proxy');
  });

  it('has the address of its health port, which is shown', () => {
    const healthHostOf = (env: Readonly<Record<string, string>>) =>
      loadUpConfig(env, foldersIn('/data')).healthHost;
    expect(healthHostOf({})).toBe('127.0.0.1');
    expect(healthHostOf({ AGENT_HEALTH_HOST: '127.0.0.2' })).toBe('127.0.0.2');
    const env = { AGENT_HEALTH_HOST: '127.0.0.2' };
    expect(agentEnvironment(env)).toMatchObject(env);
  });

  it('is read before anything starts', () => {
    expect(() => agentEnvironment({ VARIABLES_FROM_ENV: 'SHOP_TOKEN' })).toThrow(
      'VARIABLES_FROM_ENV names SHOP_TOKEN, which is not set',
    );
  });
});
