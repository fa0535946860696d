/** Runs what was asked, and hears what is named first. */
import { diagnose, diagnoseRefusal } from '../support/lab/patient-doctor.js'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import type { Severity } from '../../src/programs/doctor/report.js'
import { type FailureCode, ingest, type IngestOptions, isSluiceError } from '../../src/index.js'
import type { Asked, Told } from './cause.js'

export interface Heard extends Told {
  readonly by: Asked['by']
  /** All codes, the first included. */
  readonly codes: readonly string[]
  /** Of the first, which stands before all that are less severe. */
  readonly worst: Severity | 'nothing'
  /** All that was said. */
  readonly text: string
  readonly ms: number
}

export async function hear(asked: Asked): Promise<Heard> {
  const startedAt = performance.now()
  const heard = 'options' in asked ? await hearDoctor(asked.options, asked.tools) : await hearRun(asked.run)
  return { ...heard, by: asked.by, ms: Math.round(performance.now() - startedAt) }
}

async function hearDoctor(...args: Parameters<typeof diagnose>): Promise<Omit<Heard, 'by' | 'ms'>> {
  const report = await diagnose(...args)
  const { findings, requests } = report
  if (requests.sent > requests.atMost)
    throw new Error(`${requests.sent} requests sent, of ${requests.atMost} at the most`)
  const [{ code, message, severity: worst } = { code: 'nothing', message: '', severity: 'nothing' } as const] = findings
  return { code, message, worst, codes: findings.map(one => one.code), text: JSON.stringify(report) }
}

async function hearRun(run: () => Promise<Told>): Promise<Omit<Heard, 'by' | 'ms'>> {
  const { code, message } = await run()
  return { code, message, worst: code === 'nothing' ? 'nothing' : 'error', codes: [code], text: message }
}

const nothing: Told = { code: 'nothing', message: '' }

/** Why it stopped. */
export async function stopped(run: Promise<unknown>): Promise<Told> {
  try {
    await run
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { code: error.code, message: error.message }
  }
  return nothing
}

/** Why the first document was refused. */
export async function firstRefused(load: (onEvent: IngestOptions['onEvent']) => Promise<unknown>): Promise<Told> {
  let told: Told | undefined
  await load(event => {
    const [first] = event.type === 'rejected' ? event.documents : []
    if (first !== undefined) told ??= { code: first.type as FailureCode, message: first.reason }
  })
  return told ?? nothing
}

/** What a load that stopped says once the cause was looked for, as the command does. */
export async function stoppedAndDiagnosed(options: IngestOptions, doctor: DoctorOptions): Promise<Told> {
  try {
    await ingest(options)
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const cause = await diagnoseRefusal(error.failure, doctor)
    return cause?.finding ?? error.failure
  }
  return nothing
}
