import { explain } from '../../base/failure/failure.js'
import type { FilterReport } from '../../programs/filter/filter.js'
import { shown } from '../../base/text/shown.js'
import { columns } from '../terminal/columns.js'

/** The first filterFinding that is an error decides. */
export function filterExitCode({ findings }: FilterReport): number {
  const first = findings.find(({ severity }) => severity === 'error')
  return first === undefined ? 0 : explain(first.code).exit
}

export function filterJson({ noun: _, guard, policy, policies, findings, ...report }: FilterReport): string {
  return `${JSON.stringify({
    ok: findings.every(({ severity }) => severity !== 'error'),
    ...report,
    ...(policy === undefined ? {} : { policy }),
    ...(policies === undefined ? {} : { policies }),
    ...(guard === undefined ? {} : { isOpen: guard.isOpen, staticIps: guard.staticIps }),
    findings,
  })}\n`
}

export function showFilter(report: FilterReport): string {
  return [
    ...done(report),
    ...guarded(report),
    ...report.findings.map(found),
    ...report.notes.map(one => shown`note: ${one}\n`),
  ].join('')
}

const doings = {
  created: 'was created. To attach it, run `sluice filter attach`',
  reused: 'already exists. Sluice changed nothing',
  extended: 'has new rules',
  attached: 'is now attached',
  detached: 'is now detached',
} as const

function done({ action, policy, policies }: FilterReport): string[] {
  if (action === undefined || policy === undefined) return []
  const isAttached = policies?.some(({ id }) => id === policy.id) === true
  const unchanged = `${isAttached ? 'is already attached' : 'is not attached'}. Sluice changed nothing`
  const said = shown`The policy ${policy.name} (${policy.id}) ${action === 'unchanged' ? unchanged : doings[action]}.\n`
  return policies === undefined ? [said, '\n', columns(ruleRows(policy), '  ')] : [said, '\n']
}

function guarded({ deployment, noun, policies = [], guard, ownAddress, proof }: FilterReport): string[] {
  if (deployment === undefined || guard === undefined) return []
  const { id, name, region } = deployment
  const title = [name === id ? id : `${name} (${id})`, ...(region === undefined ? [] : [region])].join(', ')
  const attached = ['no IP filter policy is attached', '1 policy'][policies.length] ?? `${policies.length} policies`
  const addresses = guard.staticIps.map(one => [
    one.address,
    guard.isOpen ? 'allowed, like every address' : letInBy(one.policies),
  ])
  const tried = [
    ...(proof?.through === undefined ? [] : [['through the proxy', proof.through.detail]]),
    ...(proof?.direct === undefined ? [] : [['without the proxy', proof.direct.detail]]),
  ]
  return [
    shown`${noun === 'project' ? 'Project' : 'Deployment'} ${title}: ${attached}\n\n`,
    columns(
      policies.flatMap(policy =>
        ruleRows(policy).map((row, at) => [at === 0 ? policy.name : '', at === 0 ? policy.id : '', ...row]),
      ),
      '  ',
    ),
    policies.length === 0 ? '' : '\n',
    columns(
      [
        ...addresses,
        ...(ownAddress === undefined
          ? []
          : [[ownAddress, `this machine: ${guard.expected.direct ? 'allowed' : 'blocked'}`]]),
        ...tried,
      ],
      '  ',
    ),
    addresses.length + tried.length === 0 && ownAddress === undefined ? '' : '\n',
  ]
}

function ruleRows({ rules, type }: NonNullable<FilterReport['policy']>): string[][] {
  return rules.map(({ source, description }) => [source, description ?? (type === 'ip' ? '' : type)])
}

function letInBy(policies: readonly string[]): string {
  return policies.length === 0 ? 'BLOCKED: in no attached policy' : `allowed by ${policies.join(', ')}`
}

function found({ code, severity, message, advice }: FilterReport['findings'][number]): string {
  return [
    shown`${severity} ${code}: ${message}\n`,
    ...advice.map(line => shown`  fix:  ${line}\n`),
    `  more: sluice explain ${code}\n`,
  ].join('')
}
