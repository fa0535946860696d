/** Names files that had the name of an input since the last load, and that were renamed before Sluice has read all of them. */
import { basename, dirname, join, relative } from 'node:path'
import { sumsOf } from '../../base/checksum/checksum.js'
import { isoTime } from '../../base/time/clock.js'
import type { InputGap } from '../../pipeline/ledger/receipt.js'
import { type Generation, generationsSince } from '../../pipeline/source/generations.js'
import type { Feature } from '../../run/loop/hooks.js'
import type { FileIdentity } from '../../run/state/checkpoint/checkpoint.js'
import type { PlannedInput } from '../../run/state/resume/plan.js'
import { knownRuns } from '../../run/state/runs/runs.js'

/** Files in one warning. */
const NAMED = 3

/** Programs that compress a file may keep its time only in whole seconds. */
const SECOND = 1000

/** Returns the hook of a load that follows nothing. */
export const nameUnread: Feature = ({ tell }) => {
  const gaps: InputGap[] = []
  return {
    prepare: async ({ found: { plan }, stateDir }) => {
      const replaced = plan.inputs.filter(({ replaces }) => replaces !== undefined)
      if (replaced.length === 0 || stateDir === undefined) return
      const here = new Set(plan.inputs.map(({ source }) => source.file?.realPath))
      for (const input of replaced) {
        const unread = (await newerThanKnown(input)).filter(({ path }) => !here.has(path))
        const gap = unread.length === 0 ? undefined : gapOf(input, await withoutLoaded(unread, stateDir))
        if (gap === undefined) continue
        gaps.push(gap)
        tell({ type: 'warning', message: gap.message, missing: { gaps: gaps.length } })
      }
    },
    receipt: () => (gaps.length === 0 ? {} : { gaps }),
  }
}

/** Returns the earlier files of the name that hold something else than what was loaded of it, the oldest first. */
async function newerThanKnown(input: PlannedInput): Promise<readonly Generation[]> {
  const {
    source: { file },
    replacedFile: was,
  } = input
  if (file === undefined || was === undefined) return []
  const sinceMs = sinceOf(input)
  const newer: Generation[] = []
  for (const one of await generationsSince(file.realPath, sinceMs)) {
    if (isAsBefore(one, was, sinceMs) || (await hasSameBytes(one, was))) continue
    // A program that copies a file, and keeps it, makes no gap.
    const now = { bytes: file.stat.size, sum: (await file.sums([file.stat.size]))[0] }
    if (!(await hasSameBytes(one, now))) newer.push(one)
  }
  return newer
}

/** Leaves out files that another load has read to their end. */
async function withoutLoaded(files: readonly Generation[], stateDir: string): Promise<readonly Generation[]> {
  const { known } = await knownRuns(stateDir)
  const read = new Set<string>()
  for (const { checkpoint } of known)
    for (const { file, status } of checkpoint.inputs)
      if (status === 'finished' && file?.stat !== undefined) read.add(`${file.stat.inode} ${file.bytes}`)
  return files.filter(({ stat }) => !read.has(`${stat.inode} ${stat.size}`))
}

function gapOf(input: PlannedInput, unread: readonly Generation[]): InputGap | undefined {
  const { name, file } = input.source
  if (file === undefined || input.replaces === undefined || unread.length === 0) return undefined
  const message = sayUnread(name, input.replaces.run, unread, dirname(file.realPath))
  return { name, since: isoTime(new Date(sinceOf(input))), message }
}

/** Returns since when lines may be missing. A file that was written to while it was loaded has no sure time. */
function sinceOf(input: PlannedInput): number {
  return input.replacedFile?.stat?.mtimeMs ?? Date.parse(input.replaces?.written ?? '')
}

/** Returns whether it is the file that was loaded, and nothing was added to it. */
function isAsBefore({ stat, isPacked }: Generation, { stat: was, bytes }: FileIdentity, sinceMs: number): boolean {
  if (isPacked) return stat.mtimeMs < sinceMs + SECOND
  return stat.inode === was?.inode && stat.size === bytes
}

async function hasSameBytes(
  { path, stat, isPacked }: Generation,
  { bytes, sum }: { readonly bytes: number; readonly sum: string | undefined },
): Promise<boolean> {
  return !isPacked && stat.size === bytes && sum !== undefined && (await sumsOf(path, [bytes]))[0] === sum
}

function sayUnread(name: string, run: string, unread: readonly Generation[], folder: string): string {
  const names = unread.map(({ path }) => join(dirname(name), relative(folder, path)))
  const named = names.slice(0, NAMED).join(', ')
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  const has = names.length === 1 ? 'has' : 'have'
  const isGlob = unread.every(({ path }) => dirname(path) === folder && basename(path).startsWith(basename(name)))
  const which = isGlob ? `'${name}*'` : names.map(one => `'${one}'`).join(' ')
  return `${name} was replaced after run ${run} loaded it. ${named}${more} ${has} lines that Sluice has not read. To load them, run \`sluice ingest ${which}\` with the same options`
}
