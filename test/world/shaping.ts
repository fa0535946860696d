/** What stories do to documents while they are loaded: edits, and a function of the user. */
import type { IngestOptions } from '../../src/index.js'
import type { Settings, World } from './world.js'

export type Edit = 'drop' | 'keep' | 'rename'

export const edits: readonly Edit[] = ['drop', 'keep', 'rename']

const flags: Readonly<Record<Edit, readonly string[]>> = {
  drop: ['--drop', 'fill'],
  keep: ['--keep', 'n,v,part'],
  rename: ['--rename', 'fill=filling'],
}

const forLibrary: Readonly<Record<Edit, NonNullable<IngestOptions['edits']>>> = {
  drop: { drop: ['fill'] },
  keep: { keep: ['n', 'v', 'part'] },
  rename: { rename: { fill: 'filling' } },
}

type Fields = Readonly<Record<string, unknown>>

/** By its number, a document is left out, made two of, changed, or passed. The oracle has a copy in `oracle/shapes.ts`. */
function shape(document: Fields): Fields | readonly Fields[] | null {
  const n = Number(document['n'])
  if (n % 4 === 0) return null
  if (n % 4 === 1) return [document, { ...document, n: n + 1_000_000 }]
  return n % 4 === 2 ? { ...document, made: true } : document
}

/** The module of that function. */
export const shapeModule = `export default ${shape.toString()}\n`

/** Returns the options of a command. */
export function shapingArgs(world: Pick<World, 'at'>, { edit, tag, transforms }: Settings): string[] {
  return [
    ...(edit === undefined ? [] : flags[edit]),
    ...(tag === undefined ? [] : ['--set', `tag=${tag}`]),
    ...(transforms === true ? ['--transform', world.at('shape.mjs')] : []),
  ]
}

/** Returns the same options for a program. */
export function shapingOptions({ edit, tag, transforms }: Settings): Pick<IngestOptions, 'edits' | 'transform'> {
  const own = edit === undefined ? {} : forLibrary[edit]
  const set = tag === undefined ? {} : { set: { tag } }
  return {
    ...(edit === undefined && tag === undefined ? {} : { edits: { ...own, ...set } }),
    ...(transforms === true ? { transform: shape } : {}),
  }
}
