import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { childrenOf, statusOf } from '../../support/containers/container.ts';
import { ContainerDeployment } from '../../support/containers/container-deployment.ts';
import {
  CONTAINER_COMMANDS,
  CONTAINER_FILES,
  IMAGES_LIMIT_MS,
  partBytes,
} from '../../support/containers/images.ts';
import { findPostgres, startPostgres } from '../../support/database/postgres.ts';
import { lacking } from '../../support/process/system-needs.ts';

const postgres = findPostgres() === null ? ['initdb'] : [];
const lack = lacking({ commands: [...CONTAINER_COMMANDS, ...postgres], files: CONTAINER_FILES });
const MEGABYTE = 1_000_000;
/** Well above its size, and well below its size with development dependencies. */
const MAX_IMAGE_BYTES = 100 * MEGABYTE;
const HARDENED = '--read-only --cap-drop ALL --security-opt no-new-privileges';

let deployment: ContainerDeployment;

describe.skipIf(lack !== null)(
  `the service's image${lack === null ? '' : ` (lacks ${lack})`}`,
  () => {
    beforeAll(async () => {
      deployment = await ContainerDeployment.start();
    }, IMAGES_LIMIT_MS);
    afterAll(() => deployment?.close());

    it("the service container serves by the README's command, and a migration preserves its embedded database", async () => {
      const { service } = deployment;
      const place = await deployment.addLocation();
      const pid = childrenOf(await service.pid())[0] ?? 0;
      expect(statusOf(pid, 'Uid')).toBe('10001\t10001\t10001\t10001');
      expect(statusOf(pid, 'CapBnd')).toBe('0000000000000000');
      expect(await service.healthcheck()).toBe(0);

      expect(await deployment.command('docker-migrate')).toContain(
        'the database has all migrations',
      );
      await deployment.serviceIsReady();
      const { json } = await deployment.ask('/v1/private-locations');
      expect(JSON.stringify(json)).toContain(place.location);
      expect(await service.stop()).toBe(0);
      await service.start();
      await deployment.serviceIsReady();
    });

    it('the migrate command creates the tables of a new database and starts nothing else', async () => {
      const once = `docker run --rm ${HARDENED} -v fresh:/data vedette service migrate`;
      const CREATES = 'creating the embedded database';
      // The database that a new one is copied from has all migrations.
      const first = await deployment.host.script(once);
      expect(first).toMatchObject({ code: 0, stdout: 'the database has all migrations\n' });
      expect(first.stderr).toContain(CREATES);
      const second = await deployment.host.script(once);
      expect(second).toMatchObject({ code: 0, stdout: 'the database has all migrations\n' });
      expect(second.stderr).not.toContain(CREATES);
    });

    it('the service container serves on PostgreSQL and is unhealthy without it', async () => {
      const server = await startPostgres();
      onTestFinished(() => server.remove());
      const database = new URL(await server.createDatabase());
      // Through the server's socket: the containers' network leads nowhere else.
      chmodSync(server.socketFolder, 0o755);
      database.hostname = 'localhost';
      database.searchParams.set('host', '/postgres');
      const env = {
        DATABASE_URL: database.href,
        FIRST_API_KEY: `vk_${randomBytes(16).toString('hex')}`,
      };
      const how = `${HARDENED} -v ${server.socketFolder}:/postgres -e DATABASE_URL -e FIRST_API_KEY`;
      const { host } = deployment;
      const migrated = await host.script(`docker run --rm ${how} vedette service migrate`, env);
      expect(migrated.stdout).toMatch(/^applied \d+ migrations/);
      await host.script(`docker run -d --name on-postgres ${how} vedette`, env);
      const service = host.container('on-postgres');
      await service.logged(/"database":"postgres".*the API is served/);
      expect(await service.healthcheck()).toBe(0);
      await server.stop('immediate');
      expect(await service.healthcheck()).toBe(1);
      expect(await service.stop()).toBe(0);
    });

    it('the service image has all commands and no tool that builds or downloads', async () => {
      const { all, node } = await partBytes(deployment.host, 'vedette');
      console.log(`vedette over Debian and Node: ${Math.round((all - node) / MEGABYTE)} MB`);
      expect(all - node).toBeLessThan(MAX_IMAGE_BYTES);
      const sh = 'docker run --rm --entrypoint sh vedette -c';
      const script = 'command -v npm npx gcc cc make python3 curl wget git; id -u';
      expect((await deployment.host.script(`${sh} '${script}'`)).stdout).toBe('10001\n');
      for (const command of ['agent', 'up', 'run', 'validate', 'apply']) {
        const { stdout } = await deployment.host.script(
          `docker run --rm vedette ${command} --help`,
        );
        expect(stdout).toContain(`Usage: vedette ${command}`);
      }
    });
  },
);
