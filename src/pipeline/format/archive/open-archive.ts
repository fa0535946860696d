/** Opens an archive that an input turned out to be. */
import { fail } from '../../../base/failure/failure.js'
import type { Lines, Source, StoredFile } from '../../../base/flow.js'
import { isZip } from '../container-kind.js'
import { type Archive, archiveLines, type DecodeFile, type ArchiveNote } from './archive-lines.js'
import { ByteReader } from '../byte-reader.js'
import { readTar } from './tar.js'
import { readZip } from './zip.js'
import { readZipDirectory, type ZipEntry } from './zip-directory.js'

/** How the files of an archive are read. */
interface Opener {
  /** Patterns of the names of files to read. */
  readonly members: string | undefined
  readonly decodeFile: DecodeFile
  readonly note: ArchiveNote
  /** Reads a ZIP archive that is a workbook. It closes the reader. */
  openWorkbook(workbook: WorkbookFile): Promise<Lines>
}

/** A ZIP archive that is a workbook. */
export interface WorkbookFile {
  readonly input: string
  /** All of its bytes, which are read for its checksum. */
  readonly reader: ByteReader
  readonly file: StoredFile
  readonly entries: readonly ZipEntry[]
}

/** `bytes`: all of them. Throws SluiceError: INPUT_UNREADABLE, INPUT_TRUNCATED, INPUT_NOT_JSON for other files of office programs. */
export async function openArchive(
  source: Source,
  kind: 'zip' | 'tar',
  bytes: AsyncIterable<Uint8Array>,
  { members, decodeFile, note, openWorkbook }: Opener,
): Promise<Lines> {
  const reader = new ByteReader(bytes)
  const input = source.name
  const close = async () => await reader.close()
  if (kind === 'tar') {
    const archive: Archive = { input, kind: 'a tar archive', files: readTar(input, reader), members, close }
    return await archiveLines(archive, decodeFile, note)
  }
  try {
    const file = await storedZip(source)
    const entries = await readZipDirectory(input, file)
    const office = officeFile(entries)
    if (office === 'a workbook') return await openWorkbook({ input, reader, file, entries })
    if (office !== undefined) throw fail('INPUT_NOT_JSON', { input, kind: office, observed: 'the files in it show it' })
    const archive: Archive = { input, kind: 'a ZIP archive', files: readZip(input, reader, entries), members, close }
    return await archiveLines(archive, decodeFile, note)
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns what a file of an office program is, by the names of its parts. */
function officeFile(entries: readonly ZipEntry[]): string | undefined {
  // Others choose how many names there are, and how long they are.
  const has = (wanted: string) =>
    entries.some(
      ({ rawName }) => rawName.length === wanted.length && rawName.toString('latin1').toLowerCase() === wanted,
    )
  if (has('mimetype') && has('content.xml')) return 'an OpenDocument file (.ods or .odt)'
  if (!has('[content_types].xml')) return undefined
  if (has('xl/workbook.bin')) return 'a binary workbook (.xlsb)'
  if (has('word/document.xml')) return 'a Word document'
  if (has('ppt/presentation.xml')) return 'a PowerPoint presentation'
  return 'a workbook'
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
