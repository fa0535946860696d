import { Command, CommanderError } from 'commander'
import { layOutHelp } from './terminal/help.js'
import { sayError } from './show/say-error.js'
import type { Terminal } from './terminal/terminal.js'

/** What a command's module exports. */
interface CommandModule {
  /** Adds arguments, options, help and the action; the action's result is the exit code, given to `done`. */
  define(command: Command, terminal: Terminal, done: (code: number) => void): void
}

interface Verb {
  readonly summary: string
  readonly load: () => Promise<CommandModule>
}

/** A command's module is loaded when it is asked for, so that none pays for what another needs. */
const verbs: Readonly<Record<string, Verb>> = {
  ingest: { summary: 'load documents and print the receipt', load: () => import('./commands/ingest.js') },
  pull: {
    summary: 'read the rows of a ServiceNow table as NDJSON',
    load: () => import('./commands/pull.js'),
  },
  replay: { summary: 'send dead letters again', load: () => import('./commands/replay.js') },
  serve: {
    summary: 'accept documents by POST and load them',
    load: () => import('./commands/serve.js'),
  },
  doctor: {
    summary: 'test the route of a load and name what is wrong',
    load: () => import('./commands/doctor.js'),
  },
  login: {
    summary: 'log in to ServiceNow with a browser',
    load: () => import('./commands/login.js'),
  },
  lab: {
    summary: 'run proxy, IP filter and cluster on this machine',
    load: () => import('./commands/lab.js'),
  },
  demo: { summary: 'load some documents on the lab', load: () => import('./commands/demo.js') },
  runs: {
    summary: 'list runs, or forget one (runs rm)',
    load: () => import('./commands/runs.js'),
  },
  verify: { summary: 'look up every document of a run in the cluster', load: () => import('./commands/verify.js') },
  undo: { summary: 'delete the documents that a run created', load: () => import('./commands/undo.js') },
  rollback: {
    summary: 'switch an alias back to the index before',
    load: () => import('./commands/rollback.js'),
  },
  filter: {
    summary: "manage Elastic Cloud's IP filter",
    load: () => import('./commands/filter.js'),
  },
  explain: {
    summary: 'explain a failure code: causes and fixes',
    load: () => import('./commands/explain.js'),
  },
  config: { summary: 'show every option in force and its source', load: () => import('./commands/config.js') },
}

/** Runs one command line. Resolves to the exit code; never rejects. */
export async function run(args: readonly string[], terminal: Terminal, version: string): Promise<number> {
  let code = 0
  const verb = verbIn(args)
  terminal.manner.json = jsonAsked(args, terminal.env['SLUICE_JSON'])
  try {
    const program = rootCommand(terminal, version)
    for (const [name, { summary, load }] of Object.entries(verbs)) {
      const command = program.command(name).description(summary).allowExcessArguments(false)
      if (name === verb) (await load()).define(command, terminal, result => (code = result))
    }
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) return sayError(terminal, error)
    // Help and version are answers.
    if (error.exitCode === 0) return 0
    const { sayUsageError } = await import('./show/say-usage-error.js')
    return sayUsageError(terminal, error, { verb, verbs: Object.keys(verbs), args })
  }
}

function rootCommand(terminal: Terminal, version: string): Command {
  return layOutHelp(new Command('sluice'), terminal)
    .description('Loads documents into Elasticsearch through a static-IP proxy, and accounts for every one.')
    .version(version)
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  sluice demo                                        try it on this machine
  sluice ingest 'logs/*.ndjson.gz' --index logs-app  load files
  sluice doctor                                      find what is in the way

Exit codes:
  0 every document stored     1 some rejected or unknown  2 wrong usage
  3 change something          4 try again later           5 interrupted
  6 another run has the lock  70 a bug, or the result could not be written`,
    )
}

/** The verb that the command line names, also as in `sluice help ingest`. */
function verbIn(args: readonly string[]): string | undefined {
  const words = args.filter(arg => !arg.startsWith('-'))
  const verb = words[0] === 'help' ? words[1] : words[0]
  return verb !== undefined && Object.hasOwn(verbs, verb) ? verb : undefined
}

/** Usage errors come before options are read, and have to be JSON all the same. */
function jsonAsked(args: readonly string[], variable = ''): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? undefined : end).includes('--json') || /^(1|true|yes|on)$/i.test(variable)
}
