import { type Command, Option } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { notEmpty } from '../arguments.ts';
import { helpAfter } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';
import { IMPORT_FORMATS, type ImportFormat } from './import-formats.ts';

interface ImportCommandParts {
  readonly terminal: Terminal;
  /** Called with the exit code of the command. */
  readonly finished: (exitCode: number) => void;
}

interface ImportFlags {
  readonly probeModules: boolean;
  readonly from?: ImportFormat;
  readonly output?: string;
  readonly force: boolean;
  readonly strict: boolean;
}

/** Adds `vedette import`. */
export function addImportCommand(
  program: Command,
  { terminal, finished }: ImportCommandParts,
): void {
  program
    .command('import')
    .summary('convert configurations of other programs to a check file')
    .description(
      'Creates a check file from modules of blackbox_exporter with scrape jobs of Prometheus, from Gatus, from a backup of Uptime Kuma, or from targets for file_sd. Prints on stderr what was left out or changed, one line each.',
    )
    .argument('<file...>', 'the files, whose formats are recognised by their contents')
    .addOption(
      new Option('--from <format>', 'the format that the files must have').choices(IMPORT_FORMATS),
    )
    .option('--output <file>', 'write the check file to this file, not to stdout', notEmpty)
    .option('--force', 'replace the file of --output if it exists', false)
    .option('--strict', 'exit with 3 if something was left out', false)
    .option(
      '--probe-modules',
      'create one check for each module of blackbox_exporter, which only answers probes of Prometheus (PROBE_ENDPOINT)',
      false,
    )
    .addHelpText('after', helpAfter('import'))
    .action(async (files: readonly string[], { from, output, ...flags }: ImportFlags) => {
      loadSequentially(import.meta.url, './import-command.js');
      const { importCommand } = await import('./import-command.ts');
      const options = { ...flags, from: from ?? null, output: output ?? null };
      finished(await importCommand(files, options, terminal));
    });
}
