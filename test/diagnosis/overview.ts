/** What follows from the lists alone: how much is planted, what stands for which failure, what cannot be told apart. */
import { type FailureCode, failureCodes } from '../../src/base/failure/failure.js'
import { contractErrors } from '../support/facts/contract-errors.js'
import { type Alike, type AlikeName, alike } from './alike.js'
import type { Cause } from './cause.js'
import { indexCauses } from './index-causes.js'
import { inputCauses } from './input-causes.js'
import { labCauses } from './lab-causes.js'
import { table, tell } from './matrix.js'
import { notPlanted } from './not-planted.js'
import { optionsCauses } from './options-causes.js'
import { policyCauses } from './policy-causes.js'
import { realCauses } from './real-causes.js'
import { runCauses } from './run-causes.js'
import { sharedCauses } from './shared-causes.js'

type Listed = Omit<Cause, 'plant'>

/** In the order of the path. */
export const inLab = [
  ...optionsCauses,
  ...sharedCauses,
  ...labCauses,
  ...policyCauses,
  ...inputCauses,
  ...indexCauses,
  ...runCauses,
]
export const onServers = [...sharedCauses, ...realCauses]

/** Whether a cause is planted in a part of the real servers, and not in a server of the test or in this machine. */
export function isOnPart({ on }: Pick<Cause, 'on'>): boolean {
  return on !== 'a server of the test' && on !== 'this machine'
}

const listed: readonly Listed[] = [...inLab, ...realCauses]

/** How many causes stand for a failure: it is named first, or besides. */
export function plantedFor(code: FailureCode): { readonly lab: number; readonly real: number } {
  const count = (causes: readonly Listed[]) =>
    causes.filter(({ expected, beside }) => [expected, beside].includes(code)).length
  return { lab: count(inLab), real: count(onServers) }
}

export function renderOverview(): string {
  const causes = (some: readonly Listed[]) => some.filter(({ expected }) => expected !== 'nothing')
  const onParts = causes(onServers).filter(isOnPart)
  return (
    `${causes(listed).length} causes: ${causes(inLab).length} planted in the lab, ${causes(onServers).length} among real servers ` +
    `(${onParts.length} of these on Squid, microsocks, nginx and Elasticsearch themselves), ` +
    `${causes(sharedCauses).length} in both places.`
  )
}

export function renderAlike(): string {
  const names = Object.keys(alike) as AlikeName[]
  return names
    .map(name => {
      const { causes, why, tell: what }: Alike = alike[name]
      const classes = [...new Set(listed.filter(one => one.alike === name).map(({ expected }) => expected))]
      return `- **${classes.map(tell).join(', ')}.** ${causes}\n  ${why}\n  What distinguishes them: ${what}`
    })
    .join('\n')
}

export function renderContract(): string {
  const rows = contractErrors.map(({ row, codes, reason }) => [
    row,
    codes.length === 0
      ? `none: ${reason}`
      : codes.map(code => `\`${code}\` (${plantedFor(code).lab} + ${plantedFor(code).real})`).join(', '),
  ])
  return table(['row', 'failures (planted in the lab + on real servers)'], rows).join('\n')
}

export function renderCodes(): string {
  const rows = failureCodes.map(code => {
    const { lab, real } = plantedFor(code)
    return [`\`${code}\``, String(lab), String(real), notPlanted[code] ?? '']
  })
  return table(['failure', 'lab', 'real servers', ''], rows).join('\n')
}
