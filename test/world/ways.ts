/**
 * Every way in that the model plays. A way is a row with two functions: `bytes` writes documents as this way carries them, and `load`
 * runs a load of inputs.
 */
import { Readable } from 'node:stream'
import { runIngest, runLibrary } from './command.js'
import type { Ended, Line } from './facts.js'
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
  readonly packs: readonly string[]
  readonly ops: readonly string[]
  /** Acts that do not fit. */
  readonly without: readonly string[]
  bytes(lines: readonly Line[], isOpen: boolean): Buffer
  load(world: World, loading: Loading): Promise<Ended>
}

const allOps = ['create', 'create', 'create', 'index', 'update', 'upsert', 'delete']
const noPacking = ['compress', 'unpack']

/** So long that a content of one line is recognised: see known-faults.json. */
const fill = 'x'.repeat(260)

function ndjson(lines: readonly Line[], isOpen: boolean): Buffer {
  const text = lines
    .map(({ n, v, isBad }) => (isBad ? `broken ${n} ${v}\n` : `{"n":${n},"v":${v},"fill":"${fill}"}\n`))
    .join('')
  return Buffer.from(isOpen ? text.trimEnd() : text)
}

function csv(lines: readonly Line[]): Buffer {
  return Buffer.from(
    `n,v,fill\n${lines.map(({ n, v, isBad }) => `${n},${v},${fill}${isBad ? ',too much' : ''}\n`).join('')}`,
  )
}

function jsonArray(lines: readonly Line[]): Buffer {
  return Buffer.from(
    `[${lines.map(({ n, v, isBad }) => (isBad ? `"broken ${n} ${v}"` : `{"n":${n},"v":${v},"fill":"${fill}"}`)).join(',\n')}]\n`,
  )
}

const files: Way = {
  plays: ['ndjson', 'files', 'ingest', 'rotated'],
  extension: '.ndjson',
  isAppended: true,
  isKept: true,
  packs: ['gz', 'bz2'],
  ops: allOps,
  without: [],
  bytes: ndjson,
  load: async (world, { names, spelling, settings }) =>
    await runIngest(
      world,
      settings,
      names.map(name => world.spelled(name, spelling)),
    ),
}

export const ways: Readonly<Record<string, Way>> = {
  files,
  glob: {
    ...files,
    plays: ['globs'],
    load: async (world, { settings }) => await runIngest(world, settings, [world.at('in/*')]),
  },
  gz: { ...files, plays: ['gzip'], isAppended: false, packs: ['gz'], extension: '.ndjson.gz' },
  zst: { ...files, plays: ['zstd'], isAppended: false, packs: ['zst'], extension: '.ndjson.zst' },
  bz2: { ...files, plays: ['bzip2'], isAppended: false, packs: ['bz2'], extension: '.ndjson.bz2' },
  csv: {
    ...files,
    plays: ['csv'],
    extension: '.csv',
    isAppended: false,
    ops: ['create', 'create', 'index'],
    bytes: csv,
  },
  json: { ...files, plays: ['json'], extension: '.json', isAppended: false, bytes: jsonArray },
  stdin: {
    ...files,
    plays: ['stdin'],
    isKept: false,
    without: noPacking,
    load: async (world, { names, settings }) => await runIngest(world, settings, ['-'], world.stream(names)),
  },
  spool: {
    ...files,
    plays: ['spool'],
    isKept: false,
    without: noPacking,
    load: async (world, { names, settings }) => await runIngest(world, settings, ['-', '--spool'], world.stream(names)),
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
  follow: {
    ...files,
    plays: ['follow'],
    ops: ['create'],
    // It cannot be combined with --again, and reads plain files only.
    without: [...noPacking, 'loadAgain'],
    load: async (world, { settings }) =>
      await runLibrary(world, settings, world.at('in/*.ndjson'), { follow: true, pollMs: 20 }),
  },
  generator: {
    ...files,
    plays: ['iterable', 'library'],
    isKept: false,
    without: noPacking,
    load: async (world, { names, settings }) =>
      await runLibrary(world, settings, Readable.from(names.flatMap(name => world.textsOf(name)))),
  },
}
