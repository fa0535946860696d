/**
 * Stdin by way of the disk. What comes is written down as fast as it comes, and loaded from there: so a process that comes
 * after this one can go on, although nobody can say it a second time.
 *
 * What a process before has left is loaded first. Stdin that begins with all that was spooled last is the same again, and goes
 * on behind it; any other is an input of its own.
 */
import type { Input, Source } from '../flow.js'
import { decodedFrom } from './decoded-from.js'
import { readFile } from './read-file.js'
import { readCut } from './spool-cut.js'
import { type Segment, listSegments, removeSegments } from './spool-segments.js'
import { type Taking, takeStdin } from './spool-take.js'
import type { SpoolWriter } from './spool-writer.js'
import { storedFile } from './stored-file.js'

export interface SpoolOptions extends Taking {
  readonly sources: readonly Source[]
}

/** Owns what is written; disposing waits for the end of stdin, unless the signal comes first. */
export interface Spool extends AsyncDisposable {
  readonly path: string
  /** As they were found, with what was spooled in the place of stdin. */
  readonly sources: readonly Source[]
  /** What was spooled without its end, and gets none any more. */
  readonly cut: readonly string[]
  /** Whether more may come from stdin. */
  readonly isFilling: boolean
  /** Resolves when an input can be looked at, and read. */
  begun(input: Input): Promise<void>
  /** All that was read so far will be there after a power cut, too. Throws SluiceError STATE_UNWRITABLE. */
  sync(): Promise<void>
  /** Once all of it is loaded. Throws SluiceError STATE_UNWRITABLE. */
  remove(): Promise<void>
}

/** Whether this is stdin, which cannot be read a second time. */
export function isStdin({ name, file }: Source): boolean {
  return file === undefined && (name === '-' || name === '/dev/stdin')
}

/** Throws SluiceError: STATE_UNWRITABLE, INPUT_UNREADABLE; the signal's reason. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder, sources, input: stdin } = options
  const before = await listSegments(folder)
  const writer = await takeStdin(options, before)
  const old = before.filter(({ id }) => id !== writer?.segment.id)
  const name = ({ number }: Segment) => (number === 1 ? stdin.name : `${stdin.name} (${number})`)
  const spooled = [
    ...old.map(segment => oldSource(name(segment), segment)),
    ...(writer === undefined ? [] : [growingSource(name(writer.segment), writer)]),
  ]
  const all = sources
    .flatMap(source => (source === stdin ? spooled : [source]))
    .map((source, id) => ({ ...source, id }))
  return {
    path: folder.path,
    sources: all,
    cut: old.filter(({ isEnded }) => !isEnded).map(name),
    get isFilling() {
      return writer?.isOver === false
    },
    begun: async input => {
      if (writer !== undefined && input.name === name(writer.segment)) await writer.begun()
    },
    sync: async () => await writer?.sync(),
    remove: async () => await removeSegments(folder, [...old, ...(writer === undefined ? [] : [writer.segment])]),
    [Symbol.asyncDispose]: async () => await writer?.[Symbol.asyncDispose](),
  }
}

function oldSource(name: string, { id, path, isEnded }: Segment): Source {
  const file = storedFile(path, name)
  const read = isEnded ? readFile : readCut
  const open: Source['open'] = (signal, from = 0) =>
    decodedFrom({ name, file, from, read: at => read(path, name, signal, at) })
  return { id: 0, name, file, spool: { id, grows: false }, open }
}

function growingSource(name: string, writer: SpoolWriter): Source {
  const { id, path } = writer.segment
  const file = storedFile(path, name)
  const open: Source['open'] = (signal, from = 0) =>
    decodedFrom({ name, file, from, read: at => writer.read(name, at, signal) })
  return { id: 0, name, file, spool: { id, grows: true }, open }
}
