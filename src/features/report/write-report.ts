/** Writes the report of a run to its file. Never replaces a file that is no report. */
import { open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { diskProblem, replaceFile } from '../../base/disk/safe-files.js'
import { fail } from '../../base/failure/failure.js'
import { REPORT_START, reportPage, type ReportFacts } from './page.js'

/** Throws SluiceError OPTION_INVALID if no report can be written there. */
export async function checkReportFile(path: string): Promise<void> {
  const problem = await problemOf(resolve(path))
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: '--report', problem: `${path} ${problem}` })
}

/** Throws errors of the file system. */
export async function writeReport(path: string, facts: ReportFacts): Promise<void> {
  await replaceFile(resolve(path), reportPage(facts))
}

async function problemOf(path: string): Promise<string | undefined> {
  try {
    const folder = await stat(dirname(path))
    if (!folder.isDirectory()) return 'cannot be written: a part of its path is a file, not a folder'
  } catch (error) {
    return `cannot be written: ${diskProblem(error)}`
  }
  try {
    const file = await open(path, 'r')
    try {
      if (!(await file.stat()).isFile()) return 'is not a file'
      const { buffer, bytesRead } = await file.read(Buffer.alloc(REPORT_START.length), 0, REPORT_START.length, 0)
      const isReport = bytesRead === 0 || buffer.toString('utf8', 0, bytesRead) === REPORT_START
      return isReport ? undefined : 'exists and is not a report of Sluice. Choose another file'
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return `cannot be read: ${diskProblem(error)}`
  }
}
