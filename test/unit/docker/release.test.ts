import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type CommandEnd, runToEnd } from '../../support/containers/run-command.ts';
import { makeTestFolder } from '../../support/process/test-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const RELEASE = join(ROOT, 'docker/release/release.sh');
const VERSION_SCRIPT = join(ROOT, 'docker/release/version.mjs');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };
const TELLING = [
  ...['CHANGELOG.md', 'README.md', 'docker/README.md', 'docker/agent.Dockerfile'],
  ...['docker/helm/vedette/Chart.yaml', 'docker/service.Dockerfile'],
  ...['package-lock.json', 'package.json'],
];

/** Replaces programs that publish: each records its name and arguments. */
const RECORDING = `#!/bin/sh
echo "\${0##*/} $*" >> "$RECORD"
`;
/** Stand-ins for the programs that build the parts. */
const MAKING: Readonly<Record<string, string>> = {
  npm: `[ "$1" != ci ] || {
  [ -e package.json ] && [ ! -e dist ] && [ ! -e node_modules ] && touch installed || exit 1
}
[ "$1" != pack ] || {
  [ -e installed ] || exit 1
  mkdir -p "$MADE/package/dist"
  echo '{}' > "$MADE/package/dist/sbom.cdx.json"
  echo MIT > "$MADE/package/dist/third-party-licenses.txt"
  tar -czf "$4/vedette-9.8.7.tgz" -C "$MADE" package
}
`,
  helm: '[ "$1" != package ] || echo chart > "$4/vedette-9.8.7.tgz"\n',
  docker: `for each in "$@"; do
  case $each in type=oci,dest=*) echo image > "\${each#type=oci,dest=}";; esac
done
`,
  skopeo: '',
};

describe('the version of a release', () => {
  const versions = (...args: readonly string[]): Promise<CommandEnd> =>
    runToEnd(process.execPath, [VERSION_SCRIPT, ...args]);

  it('is the same in all files that name it', async () => {
    const { stderr } = await versions('check', version);
    // Before the release, its changes are under "Unreleased".
    expect(stderr.replace(`CHANGELOG.md has no part [${version}]\n`, '')).toBe('');
  });

  it('is reported missing in each file that names another one', async () => {
    const { code, stderr } = await versions('check', '9.8.7');
    expect(code).toBe(1);
    const named = stderr
      .trim()
      .split('\n')
      .map((line) => line.split(' ', 1)[0]);
    expect(new Set(named)).toEqual(new Set(TELLING));
  });

  it('is written into all of them, and only its part of the changelog is left to do', async () => {
    const folder = makeTestFolder();
    for (const path of TELLING) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(ROOT, path), join(folder, path));
    }
    expect(await versions('set', '9.8.7-rc.1', folder)).toMatchObject({ code: 0, stderr: '' });
    const missing = 'CHANGELOG.md has no part [9.8.7-rc.1]\n';
    expect(await versions('check', '9.8.7-rc.1', folder)).toMatchObject({ stderr: missing });
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    expect([lock.version, lock.packages[''].version]).toEqual(['9.8.7-rc.1', '9.8.7-rc.1']);

    const parts =
      '# Changelog\n\n## [9.8.7-rc.1] - 2030-01-02\n\n### Added\n\n- It.\n\n## [9.8.6]\n';
    writeFileSync(join(folder, 'CHANGELOG.md'), parts);
    expect(await versions('check', '9.8.7-rc.1', folder)).toMatchObject({ code: 0, stderr: '' });
    const notes = await versions('notes', '9.8.7-rc.1', folder);
    expect(notes.stdout).toBe('### Added\n\n- It.\n');
  });

  it.each(['v1.0.0', '1.0', '1.0.0+build', ''])('cannot be %j', async (text) => {
    expect(await versions('check', text)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('usage: '),
    });
  });
});

describe('the release script', () => {
  /** The script with programs that record, and the lines that they recorded. */
  function scriptIn(folder: string) {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const [name, making] of Object.entries(MAKING)) {
      writeFileSync(join(bin, name), `${RECORDING}${making}`);
      chmodSync(join(bin, name), 0o755);
    }
    const out = join(folder, 'out');
    const record = join(folder, 'record');
    writeFileSync(record, '');
    return {
      out,
      run: (parts: readonly string[], env: Readonly<Record<string, string>> = {}) =>
        runToEnd('bash', [RELEASE, '9.8.7', ...parts], {
          env: {
            ...process.env,
            PATH: `${bin}:${process.env.PATH}`,
            RECORD: record,
            MADE: join(folder, 'made'),
            RELEASE_FOLDER: out,
            ...env,
          },
        }),
      recorded: () => readFileSync(record, 'utf8').trim().split('\n'),
    };
  }
  const FILES = ['package', 'chart', 'images', 'checksums'];

  it('makes package, chart and both images for two architectures, with checksums of all', async () => {
    const { out, run, recorded } = scriptIn(makeTestFolder());
    expect(await run(FILES)).toMatchObject({ code: 0 });
    expect(recorded().slice(0, 2)).toEqual([
      'npm ci',
      `npm pack --silent --pack-destination ${out}`,
    ]);
    expect(readdirSync(out).sort()).toEqual([
      'NOTES.md',
      'SHA256SUMS',
      'vedette-9.8.7.oci.tar',
      'vedette-agent-9.8.7.oci.tar',
      'vedette-chart-9.8.7.tgz',
      'vedette-npm-9.8.7.cdx.json',
      'vedette-npm-9.8.7.licenses.txt',
      'vedette-npm-9.8.7.tgz',
    ]);
    expect(readFileSync(join(out, 'vedette-npm-9.8.7.licenses.txt'), 'utf8')).toBe('MIT\n');
    const summed = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n');
    expect(summed.map((line) => line.split('  ')[1])).toHaveLength(6);
    const images = recorded().filter((line) => line.startsWith('docker buildx build '));
    for (const [index, file] of ['agent', 'service'].entries()) {
      expect(images[index]).toContain(`--file docker/${file}.Dockerfile`);
      expect(images[index]).toContain('--platform linux/amd64,linux/arm64');
      expect(images[index]).toMatch(
        /--build-arg VERSION=9\.8\.7 --build-arg REVISION=[\da-f]{40} /,
      );
      expect(images[index]).toContain('--sbom=true');
    }
  });

  it('sums and publishes no files of another version that the folder holds', async () => {
    const { out, run } = scriptIn(makeTestFolder());
    mkdirSync(out);
    for (const other of ['9.8.6', '9.8.7-rc.1']) {
      writeFileSync(join(out, `vedette-npm-${other}.tgz`), 'older');
    }
    await run(['chart', 'checksums']);
    expect(readFileSync(join(out, 'SHA256SUMS'), 'utf8')).toMatch(
      /^[\da-f]{64} {2}vedette-chart-9\.8\.7\.tgz\n$/,
    );
  });

  it('publishes the files as they are, the npm package last, to the registry named', async () => {
    const { out, run, recorded } = scriptIn(makeTestFolder());
    await run(FILES);
    const made = recorded().length;
    expect(await run(['publish'], { REGISTRY: 'registry.example.com/vedette' })).toMatchObject({
      code: 0,
    });
    expect(recorded().slice(made)).toEqual([
      ...['vedette-agent', 'vedette'].map(
        (name) =>
          `skopeo copy --all oci-archive:${out}/${name}-9.8.7.oci.tar docker://registry.example.com/vedette/${name}:9.8.7`,
      ),
      `helm push ${out}/vedette-chart-9.8.7.tgz oci://registry.example.com/vedette/charts`,
      `npm publish ${out}/vedette-npm-9.8.7.tgz`,
    ]);
  });

  it('publishes nothing without a registry, nor a file that differs from its checksum', async () => {
    const { out, run, recorded } = scriptIn(makeTestFolder());
    await run(FILES);
    const made = recorded().length;
    const without = await run(['publish'], { REGISTRY: '' });
    expect(without.code).not.toBe(0);
    expect(without.stderr).toContain('REGISTRY is the registry');
    writeFileSync(join(out, 'vedette-chart-9.8.7.tgz'), 'another');
    const changed = await run(['publish'], { REGISTRY: 'registry.example.com' });
    expect(changed.code).not.toBe(0);
    expect(`${changed.stdout}${changed.stderr}`).toContain('vedette-chart-9.8.7.tgz');
    expect(recorded().slice(made)).toEqual([]);
  });

  it('does nothing if one of its arguments is not a known part', async () => {
    const { run, recorded } = scriptIn(makeTestFolder());
    const end = await run(['chart', 'charts']);
    expect(end).toMatchObject({ code: 2, stderr: 'unknown part: charts\n' });
    expect(recorded()).toEqual(['']);
  });
});

describe('the template of a workflow', () => {
  interface Job {
    readonly needs?: string;
    readonly environment?: string;
    readonly permissions?: Readonly<Record<string, string>>;
    readonly 'timeout-minutes'?: number;
    readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
  }
  const workflow = parseYaml(read('docker/release/github-workflow.yaml')) as {
    readonly on: { readonly push: { readonly tags: readonly string[] } };
    readonly permissions: Readonly<Record<string, string>>;
    readonly env: { readonly RELEASE: string };
    readonly jobs: Readonly<Record<string, Job>>;
  };
  const jobs = Object.values(workflow.jobs);

  it('runs every part of the script once, after tags only, in an order in which each has what it needs', () => {
    expect(workflow.env.RELEASE).toBe('bash docker/release/release.sh');
    const runs = jobs.flatMap(({ steps }) => steps.map(({ run = '' }) => run));
    const parts = runs.flatMap((run) =>
      [...run.matchAll(/\$RELEASE "\$\{GITHUB_REF_NAME#v\}" ([a-z ]+)$/gm)].flatMap(
        ([, names = '']) => names.split(' '),
      ),
    );
    const known = [...read('docker/release/release.sh').matchAll(/^part_([a-z]+)\(\)/gm)];
    expect(parts).toEqual(known.map(([, name]) => name));
    expect(workflow.on).toEqual({ push: { tags: ['v[0-9]*'] } });
    expect(jobs.map(({ needs }) => needs)).toEqual([undefined, 'test', 'build']);
  });

  it('lets only the job that publishes write, after an approval, and limits the time of each', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const writing = jobs.filter(({ permissions }) => permissions !== undefined);
    expect(writing.map(({ environment }) => environment)).toEqual(['release']);
    expect(jobs.filter((job) => job['timeout-minutes'] === undefined)).toEqual([]);
    const used = jobs.flatMap(({ steps }) => steps.flatMap(({ uses = [] }) => uses));
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@v\d+$/.test(action))).toEqual([]);
  });
});
