import { Argument, Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { bashCompletion } from '../../../../src/cli/completion/bash.ts';
import { commandTree, nodesOf } from '../../../../src/cli/completion/command-tree.ts';
import { fishCompletion } from '../../../../src/cli/completion/fish.ts';
import { zshCompletion } from '../../../../src/cli/completion/zsh.ts';

function program(): Command {
  const root = new Command('tool').version('1.0.0').helpCommand(false);
  root
    .command('run')
    .summary("run a file's checks")
    .argument('<file>', 'the file')
    .addOption(new Option('--output <format>', 'the format').choices(['pretty', 'json']))
    .option('--env-file <file>', 'values')
    .option('-n, --name <text>', 'a name')
    .addOption(new Option('--secret <text>', 'not shown').hideHelp());
  root
    .command('service')
    .description('serve')
    .helpCommand(false)
    .command('migrate')
    .summary('migrate: once');
  root
    .command('completion')
    .summary('a script')
    .addArgument(new Argument('<shell>').choices(['bash', 'fish']));
  return root;
}
const tree = commandTree(program());

describe('the tree of commands', () => {
  it('has all commands with their options, values and files', () => {
    expect(nodesOf(tree).map(({ path }) => path)).toEqual([
      ...['', '/run', '/service', '/service/migrate', '/completion'],
    ]);
    const [run, service, completion] = tree.commands;
    expect(run).toMatchObject({ description: "run a file's checks", takesFile: true, values: [] });
    expect(run?.options).toEqual([
      { long: '--output', short: null, description: 'the format', value: ['pretty', 'json'] },
      { long: '--env-file', short: null, description: 'values', value: 'file' },
      { long: '--name', short: '-n', description: 'a name', value: 'text' },
      { long: '--help', short: '-h', description: 'display help for command', value: 'nothing' },
    ]);
    expect(service).toMatchObject({ description: 'serve', takesFile: false });
    expect(completion).toMatchObject({ values: ['bash', 'fish'], takesFile: false });
  });
});

describe('the completion script', () => {
  it('of bash has the words of each command, and what follows options', () => {
    const script = bashCompletion(tree);
    expect(script).toContain(`'/run'|'/service'|'/service/migrate'|'/completion') node=`);
    expect(script).toContain(`'') words='run service completion' ;;`);
    expect(script).toContain(`'/service') words='migrate' ;;`);
    expect(script).toContain(`'/run') words='--output --env-file -n --name -h --help' ;;`);
    expect(script).toContain(`'/run -n'|'/run --name') return ;;`);
    expect(script).toContain(`'/run --env-file') compopt -o default; return ;;`);
    expect(script).toContain(`case "$node" in '/run') compopt -o default ;; esac`);
    expect(script).toMatch(/\ncomplete -F _tool tool\n$/);
  });

  it('of zsh has descriptions, quoted', () => {
    const script = zshCompletion(tree);
    expect(script).toMatch(/^#compdef tool\n/);
    expect(script).toContain(`'run:run a file'\\''s checks' 'service:serve'`);
    expect(script).toContain(`'migrate:migrate: once'`);
    expect(script).toContain(`'/run --output') compadd -- 'pretty' 'json'; return ;;`);
    expect(script).toContain(`subcommands=('bash' 'fish')`);
  });

  it('of fish has a line for each command and option', () => {
    const lines = fishCompletion(tree).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        `complete -c tool -n '__tool_at ""' -a run -d 'run a file\\'s checks'`,
        `complete -c tool -n '__tool_at /service' -a migrate -d 'migrate: once'`,
        `complete -c tool -n '__tool_at /run' -F`,
        `complete -c tool -n '__tool_at /run' -l output -x -a 'pretty json' -d 'the format'`,
        `complete -c tool -n '__tool_at /run' -l env-file -r -F -d 'values'`,
        `complete -c tool -n '__tool_at /run' -s n -l name -x -d 'a name'`,
        `complete -c tool -n '__tool_at /completion' -a 'bash fish'`,
        `            case '/run' '/service' '/service/migrate' '/completion'`,
      ]),
    );
  });
});
