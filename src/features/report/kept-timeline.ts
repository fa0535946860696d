/**
 * What a run leaves for a report: its time line, kept in the state folder, so that a report can be made later and a resumed run continues
 * it, and the file of the report. Never replaces a file that is no report.
 */
import { open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { diskProblem, recallJson, rememberJson, replaceFile } from '../../base/disk/safe-files.js'
import { isObject } from '../../base/json/parse-json.js'
import type { Bucket, KeptTimeline } from './timeline.js'
import { fail } from '../../base/failure/failure.js'
import type { ReportFacts } from './page.js'

/** Changes with every change that an older Sluice would read wrongly. */
const VERSION = 1

export async function keepTimeline(stateDir: string, run: string, { samples, limits }: KeptTimeline): Promise<void> {
  const packed = { ...samples, buckets: samples.buckets.map(pack) }
  // After a power cut, a report without charts is no loss.
  await rememberJson(pathOf(stateDir, run), VERSION, { samples: packed, limits }, false)
}

/** Returns undefined if there is none that can be read. */
export async function recallTimeline(stateDir: string, run: string): Promise<KeptTimeline | undefined> {
  const { samples, limits } = await recallJson(pathOf(stateDir, run), VERSION)
  if (!isObject(samples) || !isObject(limits) || !areNumbers(limits)) return undefined
  const { bucketMs, lengthMs, moreWaits, buckets, waits, processes } = samples
  if (!areNumbers({ bucketMs, lengthMs, moreWaits }) || !Array.isArray(buckets)) return undefined
  if (!Array.isArray(waits) || !Array.isArray(processes)) return undefined
  const unpacked = buckets.map(unpack)
  if (unpacked.includes(undefined) || !waits.every(isWait) || !processes.every(isProcess)) return undefined
  return { samples: { ...samples, buckets: unpacked }, limits } as unknown as KeptTimeline
}

export async function forgetTimeline(stateDir: string, run: string): Promise<void> {
  await rm(pathOf(stateDir, run), { force: true })
}

/** Removes the oldest time lines beyond a number. */
export async function pruneTimelines(stateDir: string, most: number): Promise<void> {
  const folder = folderOf(stateDir)
  const names = await readdir(folder).catch(() => [])
  if (names.length <= most) return
  const found = await Promise.all(
    names.map(async name => {
      const path = join(folder, name)
      return {
        path,
        mtimeMs: await stat(path).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      }
    }),
  )
  const oldest = found.toSorted((a, b) => a.mtimeMs - b.mtimeMs).slice(0, names.length - Math.floor(most * 0.9))
  for (const { path } of oldest) await rm(path, { force: true }).catch(() => undefined)
}

function folderOf(stateDir: string): string {
  return join(stateDir, 'timelines')
}

function pathOf(stateDir: string, run: string): string {
  return join(folderOf(stateDir), `${run}.json`)
}

function pack({ taken, rejected, requests, bytes, refused, openMs, mostOpen, answered, retries }: Readonly<Bucket>) {
  const numbers = [taken, rejected, requests, bytes, refused, Math.round(openMs), mostOpen]
  return [...numbers, answered, ...(Object.keys(retries).length === 0 ? [] : [retries])]
}

function unpack(packed: unknown): Bucket | undefined {
  if (!Array.isArray(packed)) return undefined
  const [taken, rejected, requests, bytes, refused, openMs, mostOpen, answered, retries = {}] = packed as unknown[]
  const numbers = { taken, rejected, requests, bytes, refused, openMs, mostOpen }
  if (!areNumbers(numbers) || !Array.isArray(answered) || !areNumbers(answered)) return undefined
  if (!isObject(retries) || !areNumbers(retries)) return undefined
  return { ...numbers, answered, retries } as unknown as Bucket
}

function areNumbers(values: object): boolean {
  return Object.values(values).every(value => typeof value === 'number' && Number.isFinite(value) && value >= 0)
}

function isWait(value: unknown): boolean {
  if (!isObject(value)) return false
  const { code, from, to = 0 } = value
  return typeof code === 'string' && areNumbers({ from, to })
}

function isProcess(value: unknown): boolean {
  return isObject(value) && typeof value['began'] === 'string' && areNumbers({ at: value['at'] })
}

/** Throws SluiceError OPTION_INVALID if no report can be written there. */
export async function checkReportFile(path: string): Promise<void> {
  const problem = await problemOf(resolve(path))
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: '--report', problem: `${path} ${problem}` })
}

/** Throws errors of the file system. */
export async function writeReport(path: string, facts: ReportFacts): Promise<void> {
  const { reportPage } = await pageCode()
  await replaceFile(resolve(path), reportPage(facts))
}

/** Only a report needs it, and not what keeps or forgets a time line. */
async function pageCode() {
  return await import('./page.js')
}

async function problemOf(path: string): Promise<string | undefined> {
  const { REPORT_START } = await pageCode()
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
