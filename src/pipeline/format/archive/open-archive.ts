/** Opens an archive that an input turned out to be. */
import { fail } from '../../../base/failure/failure.js'
import type { Lines, Source, StoredFile } from '../../../base/flow.js'
import { isZip } from '../container-kind.js'
import { type Archive, archiveLines, type DecodeFile, type ArchiveNote } from './archive-lines.js'
import { ByteReader } from '../byte-reader.js'
import { readTar } from './tar.js'
import { readZip } from './zip.js'
import { readZipDirectory } from './zip-directory.js'

/** `bytes`: all of them. `members`: patterns of the names of files to read. Throws SluiceError: INPUT_UNREADABLE, INPUT_TRUNCATED, INPUT_NOT_JSON for a spreadsheet. */
export async function openArchive(
  source: Source,
  kind: 'zip' | 'tar',
  bytes: AsyncIterable<Uint8Array>,
  decodeFile: DecodeFile,
  note: ArchiveNote,
  members?: string,
): Promise<Lines> {
  const reader = new ByteReader(bytes)
  const input = source.name
  const close = async () => await reader.close()
  if (kind === 'tar') {
    const archive: Archive = { input, kind: 'a tar archive', files: readTar(input, reader), members, close }
    return await archiveLines(archive, decodeFile, note)
  }
  try {
    const entries = await readZipDirectory(input, await storedZip(source))
    const has = (wanted: string) => entries.some(({ rawName }) => rawName.equals(Buffer.from(wanted)))
    if (has('[Content_Types].xml') || (has('mimetype') && has('content.xml')))
      throw fail('INPUT_NOT_JSON', { input, kind: 'a spreadsheet', observed: 'the files in it show it' })
    const archive: Archive = { input, kind: 'a ZIP archive', files: readZip(input, reader, entries), members, close }
    return await archiveLines(archive, decodeFile, note)
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns the file of a ZIP archive, which has its directory at the end. */
async function storedZip({ name: input, file, copy }: Source): Promise<StoredFile> {
  const why = 'it is a ZIP archive, which has its directory at the end'
  if (file === undefined || copy !== undefined)
    throw fail('INPUT_UNREADABLE', { input, problem: `${why}. Save it as a file, and pass that file` })
  if (!isZip(await file.part(0, 4)))
    throw fail('INPUT_UNREADABLE', {
      input,
      problem: `${why}, and it is compressed once more. Decompress the file first`,
    })
  return file
}
