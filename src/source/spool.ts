/**
 * Stdin by way of the disk. What comes is written down as fast as it comes, and loaded from there: so a process that comes
 * after this one can go on, although nobody can say it a second time.
 *
 * What a process before has left is loaded first. Stdin that begins with all of one that was spooled is the same again, and goes
 * on behind it; any other is an input of its own. Where the end of one was never seen, what is loaded is kept until it comes
 * again, or something else does.
 */
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Input, Lines, Source, StoredFile } from '../flow.js'
import { decodedFrom } from './decoded-from.js'
import { readFile } from './read-file.js'
import { readCut } from './spool-cut.js'
import { type Segment, listSegments, markLoaded, removeSegments } from './spool-segments.js'
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
  /** What its bytes turned out to be: only lines can be gone on with from where they are. */
  opened(input: Input, kind: Lines['kind']): void
  /** So far a checkpoint says that this copy of stdin is loaded; undefined where it is read from its start. */
  loaded(id: string, to: number | undefined): void
  /** All that was read so far will be there after a power cut, too. Throws SluiceError STATE_UNWRITABLE. */
  sync(): Promise<void>
  /**
   * Once nothing more is loaded: waits until stdin has been taken. Resolves to why it could not be to its end, where it was not the
   * signal that kept it from it.
   */
  untaken(): Promise<SluiceError | undefined>
  /**
   * Once all of it is loaded: deletes it, and resolves to true; unless some of it lacks its end, and may come again.
   * Throws SluiceError STATE_UNWRITABLE.
   */
  settle(): Promise<boolean>
}

/** Whether this is stdin, which cannot be read a second time. */
export function isStdin({ name, file }: Source): boolean {
  return file === undefined && (name === '-' || name === '/dev/stdin')
}

/** Throws SluiceError: STATE_UNWRITABLE, INPUT_UNREADABLE; the signal's reason. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder, sources, input: stdin } = options
  const before = await listSegments(folder)
  const { writer, old } = await takeStdin(options, before)
  const name = ({ number }: Segment) => (number === 1 ? stdin.name : `${stdin.name} (${number})`)
  const spooled = [
    ...old.map(segment => oldSource(name(segment), segment)),
    ...(writer === undefined ? [] : [growingSource(name(writer.segment), writer)]),
  ]
  const all = sources
    .flatMap(source => (source === stdin ? spooled : [source]))
    .map((source, id) => ({ ...source, id }))
  const cut = old.filter(({ isEnded }) => !isEnded).map(name)
  return {
    path: folder.path,
    sources: all,
    cut,
    get isFilling() {
      return writer?.isOver === false
    },
    begun: async input => {
      if (writer !== undefined && input.name === name(writer.segment)) await writer.begun()
    },
    opened: (input, kind) => {
      if (kind === 'elements' && writer !== undefined && input.name === name(writer.segment)) writer.loaded(undefined)
    },
    loaded: (id, to) => {
      if (writer?.segment.id === id) writer.loaded(to)
    },
    sync: async () => await writer?.sync(),
    untaken: async () => await writer?.untaken(),
    settle: async () => {
      const segments = [...old, ...(writer === undefined ? [] : [writer.segment])]
      if (cut.length === 0) await removeSegments(folder, segments)
      else for (const segment of segments) await markLoaded(folder, segment)
      return cut.length === 0
    },
    [Symbol.asyncDispose]: async () => await writer?.[Symbol.asyncDispose](),
  }
}

function oldSource(name: string, { id, path, isEnded, dropped }: Segment): Source {
  const file = spooledFile(path, name, id)
  const read = isEnded ? readFile : readCut
  const open: Source['open'] = (signal, from = 0, _place, into) => {
    refuseDropped(name, from, dropped)
    return decodedFrom({ name, file, from, read: at => read(path, name, signal, at, into) })
  }
  return { id: 0, name, file, spool: { id, grows: false }, open }
}

function growingSource(name: string, writer: SpoolWriter): Source {
  const { id, path } = writer.segment
  const file = spooledFile(path, name, id)
  const open: Source['open'] = (signal, from = 0) => {
    refuseDropped(name, from, writer.dropped)
    return decodedFrom({ name, file, from, read: at => writer.read(name, at, signal) })
  }
  return { id: 0, name, file, spool: { id, grows: true }, open }
}

/** It stays the same one where the file is replaced, to drop what was loaded. */
function spooledFile(path: string, name: string, id: string): StoredFile {
  const file = storedFile(path, name)
  return {
    path,
    look: async () => ({ ...(await file.look()), inode: id }),
    hash: async (from, to) => await file.hash(from, to),
  }
}

function refuseDropped(name: string, from: number, dropped: number): void {
  if (from >= dropped) return
  const problem = `its first ${dropped} bytes were loaded and are not kept (--spool-limit), and the checkpoint that says so is gone or another index is loaded`
  throw fail('INPUT_UNREADABLE', { input: name, problem })
}
