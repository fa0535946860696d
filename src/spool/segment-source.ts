import { open, stat } from 'node:fs/promises'
import { fail } from '../failure/failure.js'
import type { Copy, Source } from '../flow.js'
import { decodedFrom, look } from '../source/stored-file.js'
import { readFile } from '../source/read-file.js'
import { LINE_FEED } from '../text/bytes.js'
import type { SpoolSegment } from './segments.js'
import type { SpoolWriter } from './writer.js'

const LOOK_BYTES = 1 << 16

/** Makes an input of a segment that an earlier process left. */
export function leftSource(name: string, segment: SpoolSegment, of: string): Source {
  const { id, path, isEnded, dropped } = segment
  const read = isEnded ? readFile : readCut
  const open: Source['open'] = (signal, from = 0, _place, into) => {
    refuseDropped(name, from, dropped)
    return decodedFrom(name, path, from, at => read(path, name, signal, { from: at, into }))
  }
  return { id: 0, name, copy: { id, of, grows: false }, open }
}

/** Makes an input of the segment that this process writes. */
export function growingSource(name: string, writer: SpoolWriter, of: string): Source {
  const { id, path } = writer.segment
  const copy: Copy = {
    id,
    of,
    grows: true,
    begun: async () => await writer.begun(),
    sync: async () => await writer.sync(),
    loaded: to => writer.loaded(to),
  }
  const open: Source['open'] = (signal, from = 0) => {
    refuseDropped(name, from, writer.dropped)
    return decodedFrom(name, path, from, at => writer.read(name, at, signal))
  }
  return { id: 0, name, copy, open }
}

function refuseDropped(name: string, from: number, dropped: number): void {
  if (from >= dropped) return
  const problem = `Sluice loaded its first ${dropped.toLocaleString('en-US')} bytes and deleted them (--spool-limit), but their checkpoint is gone or the index is a different one`
  throw fail('INPUT_UNREADABLE', { input: name, problem })
}

/** Reads all of a segment that lacks its end, then throws SluiceError INPUT_UNENDED. */
async function* readCut(
  path: string,
  name: string,
  signal: AbortSignal,
  reading: Parameters<typeof readFile>[3],
): AsyncGenerator<Uint8Array> {
  yield* readFile(path, name, signal, reading)
  const { size } = await stat(path)
  const torn = (await look(path, name)).isCompressed ? 0 : await bytesOfLastLine(path, size)
  const inLine = torn === 0 ? '' : `, and the last ${torn} bytes are an incomplete line`
  throw fail('INPUT_UNENDED', { input: name, observed: `Sluice spooled ${size} bytes${inLine}`, bytes: size, torn })
}

async function bytesOfLastLine(path: string, size: number): Promise<number> {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(LOOK_BYTES)
    for (let end = size; end > 0;) {
      const start = Math.max(0, end - LOOK_BYTES)
      const { bytesRead } = await file.read(buffer, 0, end - start, start)
      const lineFeed = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
      if (lineFeed !== -1) return size - (start + lineFeed + 1)
      end = start
    }
    return size
  } finally {
    await file.close()
  }
}
