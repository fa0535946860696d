/**
 * Every way in that the model plays. A way is a row with two functions: `bytes` writes documents as this way carries them, and `load`
 * runs a load of inputs.
 */
import { Readable } from 'node:stream'
import { runIngest, runLibrary } from './command.js'
import type { Ended } from './facts.js'
import * as formats from './formats.js'
import { runQueue } from './queue.js'
import { runServe } from './serving.js'
import type { Settings, World } from './world.js'

interface Loading {
  /** Names of inputs, as the world knows them. */
  readonly names: readonly string[]
  /** How the user spells them: 0 is the plain path. */
  readonly spelling: number
  readonly settings: Settings
}

export interface Way {
  /** What of Sluice it plays, in the words of its own lists. */
  readonly plays: readonly string[]
  readonly extension: string
  /** Whether lines are appended to the bytes that stand there. Otherwise a file is written again. */
  readonly isAppended: boolean
  /** Whether Sluice keeps what it knows of the inputs. */
  readonly isKept: boolean
  readonly isOnServer?: true
  /** Whether documents carry their own ids, and what to do with each of them. */
  readonly hasIds?: true
  /** `--format`, where the first document may not show it. */
  readonly format?: string
  /** Other options that say how the bytes are read. */
  readonly flags?: readonly string[]
  /** Whether the document stands as text in a field of the stored one, so that no option may change it. */
  readonly isText?: true
  readonly hasActions?: true
  /** Whether callers post the inputs to a receiver, and how. Such a load has no edits and no name. */
  readonly posts?: { readonly hasKeys: boolean }
  /** Whether the inputs are tables of ServiceNow. */
  readonly isTable?: true
  /** Whether a job on a queue loads the inputs. The queue knows them, and not the state folder. */
  readonly isQueued?: true
  /** Whether a command always loads all inputs. */
  readonly isWhole?: true
  /** How many inputs there may be. */
  readonly most?: number
  readonly packs: readonly string[]
  readonly ops: readonly string[]
  /** Acts that do not fit. */
  readonly without: readonly string[]
  readonly bytes: formats.Format
  load(world: World, loading: Loading): Promise<Ended>
}

const allOps = ['create', 'create', 'create', 'index', 'update', 'upsert', 'delete']
/** What Sluice does not know again is loaded twice by two commands. */
const notKept = ['compress', 'unpack', 'loadTwice']

const files: Way = {
  plays: ['ndjson', 'files', 'ingest', 'rotated'],
  extension: '.ndjson',
  isAppended: true,
  isKept: true,
  packs: ['gz', 'bz2'],
  ops: allOps,
  without: [],
  bytes: formats.ndjson,
  load: async (world, { names, spelling, settings }) =>
    await runIngest(
      world,
      settings,
      names.map(name => world.spelled(name, spelling)),
    ),
}

const served: Way = {
  ...files,
  plays: ['serve'],
  isKept: false,
  posts: { hasKeys: false },
  without: [...notKept, 'loadAgain', 'loadOtherwise'],
  load: runServe,
}

/** What rows of tables do not do. A load of other options reads all rows. */
const notInTables = ['rotate', 'compress', 'unpack', 'rename', 'copy', 'delete', 'touch', 'clockJumps', 'forget']

const tables: Way = {
  ...files,
  plays: ['tables', 'servicenow'],
  extension: '',
  isAppended: false,
  isOnServer: true,
  isTable: true,
  hasIds: true,
  ops: ['index'],
  without: [...notInTables, 'loadTwice', 'loadOtherwise'],
  load: async (world, { names, settings }) =>
    await runIngest(
      world,
      settings,
      names.map(name => `servicenow:${world.table(name)}`),
    ),
}

export const ways: Readonly<Record<string, Way>> = {
  files,
  glob: {
    ...files,
    plays: ['globs'],
    isWhole: true,
    load: async (world, { settings }) => await runIngest(world, settings, [world.at('in/*')]),
  },
  gz: { ...files, plays: ['gzip'], isAppended: false, packs: ['gz'], extension: '.ndjson.gz' },
  zst: { ...files, plays: ['zstd'], isAppended: false, packs: ['zst'], extension: '.ndjson.zst' },
  bz2: { ...files, plays: ['bzip2'], isAppended: false, packs: ['bz2'], extension: '.ndjson.bz2' },
  xz: { ...files, plays: ['xz'], isAppended: false, packs: ['xz'], extension: '.ndjson.xz' },
  br: { ...files, plays: ['brotli'], isAppended: false, packs: ['br'], extension: '.ndjson.br' },
  csv: {
    ...files,
    plays: ['csv'],
    extension: '.csv',
    isAppended: false,
    ops: ['create', 'create', 'index'],
    bytes: formats.csv,
  },
  'csv, titled': {
    ...files,
    plays: ['csv'],
    extension: '.csv',
    flags: ['--skip-lines', '2', '--null-values', '-'],
    isAppended: false,
    ops: ['create', 'create', 'index'],
    bytes: formats.titled,
  },
  workbook: {
    ...files,
    plays: ['xlsx'],
    extension: '.xlsx',
    flags: ['--sheet', 'Data'],
    isAppended: false,
    packs: [],
    ops: ['create', 'create', 'index'],
    without: ['compress', 'unpack'],
    bytes: formats.xlsx,
  },
  archive: {
    ...files,
    plays: ['zip'],
    extension: '.zip',
    flags: ['--members', '*.ndjson'],
    isAppended: false,
    packs: [],
    without: ['compress', 'unpack'],
    bytes: formats.archive,
  },
  text: {
    ...files,
    plays: ['text'],
    extension: '.log',
    format: 'text',
    isText: true,
    ops: ['create'],
    without: ['narrowMapping'],
    bytes: formats.text,
  },
  tsv: {
    ...files,
    plays: ['tsv'],
    extension: '.tsv',
    isAppended: false,
    ops: ['create', 'create', 'index'],
    bytes: formats.tsv,
  },
  elasticdump: {
    ...files,
    plays: ['elasticdump'],
    format: 'elasticdump',
    isAppended: false,
    hasIds: true,
    ops: ['create', 'index'],
    bytes: formats.elasticdump,
  },
  search: {
    ...files,
    plays: ['search'],
    extension: '.json',
    isAppended: false,
    hasIds: true,
    ops: ['create', 'index'],
    bytes: formats.search,
  },
  bulk: {
    ...files,
    plays: ['bulk'],
    isAppended: false,
    hasIds: true,
    hasActions: true,
    // A deletion has no document that could be bad.
    ops: allOps.filter(op => op !== 'delete'),
    bytes: formats.bulk,
  },
  json: { ...files, plays: ['json'], extension: '.json', isAppended: false, bytes: formats.jsonArray },
  stdin: {
    ...files,
    plays: ['stdin'],
    isKept: false,
    without: notKept,
    load: async (world, { names, settings }) => await runIngest(world, settings, ['-'], world.stream(names)),
  },
  spool: {
    ...files,
    plays: ['spool'],
    isKept: false,
    without: notKept,
    load: async (world, { names, settings }) => await runIngest(world, settings, ['-', '--spool'], world.stream(names)),
  },
  serve: served,
  // Callers repeat a request of which they do not know what became.
  'serve, keys': { ...served, posts: { hasKeys: true } },
  queue: {
    ...files,
    plays: ['jobs', 'ranges'],
    isKept: false,
    isQueued: true,
    isWhole: true,
    without: [
      'loadTwice',
      'loadOtherwise',
      'loseState',
      'move',
      'deleteIndex',
      'makeIndexAnew',
      'narrowMapping',
      'verify',
      'undo',
      'forget',
    ],
    load: async (world, { settings }) => await runQueue(world, settings),
  },
  tables,
  // Deletes the documents of deleted rows. The index must hold only the tables of the command.
  'tables, reconciled': {
    ...tables,
    isWhole: true,
    most: 1,
    load: async (world, { names, settings }) => {
      const inputs = names.map(name => `servicenow:${world.table(name)}`)
      return await runIngest(world, settings, [...inputs, '--deletions', 'reconcile', '--max-deleted', '100%'])
    },
  },
  url: {
    ...files,
    plays: ['https', 'remote'],
    isOnServer: true,
    load: async (world, { names, settings }) =>
      await runIngest(
        world,
        settings,
        names.map(name => world.url(name)),
      ),
  },
  s3: {
    ...files,
    plays: ['s3'],
    isOnServer: true,
    load: async (world, { names, settings }) => {
      const isAll = names.length === world.names.length
      return await runIngest(world, settings, isAll ? [world.object()] : names.map(name => world.object(name)))
    },
  },
  follow: {
    ...files,
    plays: ['follow'],
    isWhole: true,
    ops: ['create'],
    // It cannot be combined with --again, and reads plain files only.
    without: ['compress', 'unpack', 'loadTwice', 'loadAgain'],
    load: async (world, { settings }) =>
      await runLibrary(world, settings, world.at('in/*.ndjson'), { follow: true, pollMs: 20 }),
  },
  generator: {
    ...files,
    plays: ['iterable', 'library'],
    isKept: false,
    without: notKept,
    load: async (world, { names, settings }) =>
      await runLibrary(world, settings, Readable.from(names.flatMap(name => world.textsOf(name)))),
  },
  objects: {
    ...files,
    plays: ['object stream'],
    isKept: false,
    without: notKept,
    load: async (world, { names, settings }) =>
      await runLibrary(world, settings, Readable.from(names.flatMap(name => world.objectsOf(name)))),
  },
}
