/** Asks for what a load needs, and lets the doctor check it step by step. Writes nothing. */
import type { DoctorReport, Finding } from '../../../programs/doctor/report.js'
import { explain, isSluiceError, SluiceError } from '../../../base/failure/failure.js'
import { invalid } from '../../../options/option-checks.js'
import type { Effective } from '../../settings/resolve.js'
import { doctorOptions } from '../../application/ask-doctor.js'
import { loadAccess, loadOptions } from '../../application/load-options.js'
import { columns } from '../../terminal/columns.js'
import { safeReport, showFinding, showStep } from '../../show/show-diagnosis.js'
import type { Terminal } from '../../terminal/terminal.js'
import {
  type Answers,
  type AskLine,
  doubtful,
  openQuestions,
  type SetupQuestion,
  type SetUpStep,
  steps,
} from './questions.js'

export interface Dialog {
  readonly terminal: Terminal
  readonly flags: Readonly<Record<string, unknown>>
  /** Undefined if there is no terminal. */
  readonly line: AskLine | undefined
  readonly signal: AbortSignal
  /** Registers the static addresses. False: nothing was done, and the user knows why. */
  readonly register: (dialog: Dialog, answers: Answers, finding: Finding) => Promise<Answers | false>
}

/** Returns the answers, as flags. Throws SluiceError OPTION_INVALID if one is missing, and the first obstacle without a terminal. */
export async function setUp(dialog: Dialog): Promise<Answers> {
  const { line } = dialog
  if (line === undefined) await requireAnswers(dialog)
  let answers: Answers = {}
  for (const step of steps) {
    for (const question of await openQuestions(step, await resolved(dialog, answers))) {
      if (line !== undefined) answers = await answered(question, dialog, answers, line)
    }
    answers = await checked(step, dialog, answers)
  }
  return answers
}

export async function resolved({ flags, terminal }: Dialog, answers: Answers): Promise<Effective> {
  return await loadOptions({ ...flags, ...answers }, terminal, { isNew: true })
}

async function requireAnswers(dialog: Dialog): Promise<void> {
  const effective = await resolved(dialog, {})
  const open = (await Promise.all(steps.map(async step => await openQuestions(step, effective)))).flat()
  const missing = open.filter(one => one.isOptional !== true).map(({ how }) => how)
  if (missing.length === 0) return
  throw invalid('sluice init', `cannot ask, because stdin or stderr is not a terminal. Set ${missing.join('; and ')}`)
}

/** Asks until the answer can be read. Only Enter keeps the earlier value, if there is one. */
async function answered(question: SetupQuestion, dialog: Dialog, answers: Answers, line: AskLine): Promise<Answers> {
  for (;;) {
    const given = await question.ask(line)
    const next = { ...answers, ...given }
    try {
      const { values } = await resolved(dialog, next)
      if (given !== undefined || question.isOptional === true || (await question.isSet(values))) return next
      dialog.terminal.err(`Sluice needs ${question.how}.\n`)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      dialog.terminal.err(`${error.message}\n`)
    }
  }
}

/** Lets the doctor check, and asks again until it finds no obstacle. */
async function checked(step: SetUpStep, dialog: Dialog, given: Answers): Promise<Answers> {
  const { terminal, line } = dialog
  let answers = given
  let isRegistered = false
  for (;;) {
    const effective = await resolved(dialog, answers)
    if (!isCheckable(step, effective)) return answers
    const report = await diagnosed(step, effective, dialog)
    terminal.err(showCheck(step, report))
    const problems = problemsOf(step, report)
    const [problem] = problems.filter(isObstacle)
    const ofFilter = problems.find(({ code }) => /^(EGRESS|FILTER)_/.test(code) && code !== 'EGRESS_UNEXPECTED')
    if (ofFilter !== undefined && !isRegistered) {
      const done = await dialog.register(dialog, answers, ofFilter)
      isRegistered = done !== false
      if (done !== false) {
        answers = done
        continue
      }
    }
    if (problem === undefined) return answers
    if (line === undefined) throw errorOf(problem, report)
    const again = doubtful(problem.code)
    terminal.err('\nChange the answer, or press Enter to check again.\n')
    if (again.length === 0) await line('Enter:')
    for (const question of again) answers = await answered(question, dialog, answers, line)
  }
}

async function diagnosed(
  { checks }: SetUpStep,
  effective: Effective,
  { terminal, signal }: Dialog,
): Promise<DoctorReport> {
  const { values } = effective
  const isAnonymous = checks === 'proxy' || checks === 'route'
  // Credential files that `init` has not asked for yet may be missing.
  const used = isAnonymous ? { ...effective, values: { ...values, ...noCredentials } } : effective
  const options = doctorOptions(used, await loadAccess(used, terminal))
  const { diagnose, diagnoseProxy } = await import('../../../programs/doctor/diagnose.js')
  terminal.err('\nChecking …\n')
  const asked = { ...options, index: checks === 'index' ? options.index : undefined, signal }
  if (checks === 'proxy') return safeReport(await diagnoseProxy(asked), terminal)
  // The steps behind the route have seen the filter.
  return safeReport(
    await diagnose(checks === 'route' ? asked : { ...asked, preflightConnections: 1, directCheck: false }),
    terminal,
  )
}

const noCredentials = {
  apiKey: undefined,
  apiKeyFile: undefined,
  username: undefined,
  password: undefined,
  passwordFile: undefined,
}

function isCheckable({ checks }: SetUpStep, { values: { index, direct } }: Effective): boolean {
  return checks === 'index' ? index !== undefined : checks !== 'proxy' || !direct
}

/** Credentials are not needed while only the route is checked. */
function problemsOf({ checks }: SetUpStep, { findings }: DoctorReport): readonly Finding[] {
  const errors = findings.filter(({ severity }) => severity === 'error')
  return checks === 'route' ? errors.filter(({ code }) => code !== 'CLUSTER_AUTH_REJECTED') : errors
}

/** A load works although the cluster answers others, too. */
function isObstacle({ code }: Finding): boolean {
  return code !== 'FILTER_NOT_ENFORCED'
}

const ofCredentials = 'credentials and privileges'

function showCheck(step: SetUpStep, report: DoctorReport): string {
  const sent = report.steps.filter(({ isLeftOut, ms }) => isLeftOut !== true && ms !== undefined)
  const seen =
    step.checks === 'route' || step.checks === 'proxy'
      ? sent
      : sent.filter(({ name, ok }) => name === ofCredentials || !ok)
  const warnings = step.checks === 'route' ? report.findings.filter(({ severity }) => severity === 'warning') : []
  const found = [...problemsOf(step, report), ...warnings]
  const { next } = report
  return `${columns(seen.map(showStep), '  ')}${found.map((one, at) => showFinding(one, at === 0 ? next : undefined)).join('')}\n`
}

function errorOf({ code, message, evidence }: Finding, { next }: DoctorReport): SluiceError {
  const { exit, retry } = explain(code)
  return new SluiceError({
    code,
    message,
    evidence: { ...evidence, ...(next === undefined ? {} : { next }) },
    exit,
    retry,
  })
}
