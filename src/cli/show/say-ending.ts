import { resolve } from 'node:path'
import type { Receipt } from '../../index.js'
import { count, plural } from '../terminal/columns.js'
import { visible } from '../../base/text/shown.js'
import { nextAfter, sayFailure } from './say-error.js'
import { advices, balanceOf, rejections } from './show-receipt.js'

/**
 * Describes in one paragraph a run that needs attention: the cause, the counts, the path of the dead letters and the next step.
 * For the mail of a job, which holds nothing else.
 */
export function sayEnding(receipt: Receipt): string {
  const { failure, run } = receipt
  const letters = receipt.deadLetters === undefined ? undefined : resolve(receipt.deadLetters)
  const facts = [
    `  run:   ${run}: ${balanceOf(receipt)}`,
    ...(letters === undefined ? [] : [`  dead letters: ${letters}`]),
  ]
  if (failure !== undefined) {
    return sayFailure(failure, { facts, next: nextAfter(failure, receipt.checkpoint !== undefined) })
  }
  return [
    `error: ${whatIsMissing(receipt)}`,
    ...rejections(receipt)
      .slice(0, 3)
      .map(([documents, type, where]) => `  cause: ${documents} ${type} (${where})`),
    ...facts,
    ...advices(receipt).map(([, advice]) => `  fix:   ${advice}`),
    ...nextSteps(receipt, letters).map(step => `  next:  ${step}`),
    '',
  ]
    .map(visible)
    .join('\n')
}

function whatIsMissing({ rejected, unknown, read }: Receipt): string {
  const [of, were] = [`of ${plural(read, 'document')}`, (n: number) => (n === 1 ? 'was' : 'were')]
  const parts = [
    ...(rejected === 0 ? [] : [`${count(rejected)} ${of} ${were(rejected)} rejected`]),
    ...(unknown === 0 ? [] : [`no answer shows whether ${count(unknown)} ${of} ${were(unknown)} stored`]),
  ]
  return parts.join(', and ')
}

/** Returns what to do after a run that nothing stopped. */
export function nextOf(receipt: Receipt): string[] {
  const { deadLetters } = receipt
  return nextSteps(receipt, deadLetters === undefined ? undefined : resolve(deadLetters))
}

function nextSteps({ run, rejected, rejections: kinds, unknown, accepted }: Receipt, letters: string | undefined) {
  // Such documents have nothing to repair.
  const areAllThere = kinds.every(({ type }) => type === 'version_conflict_engine_exception')
  return [
    ...(rejected === 0 || letters === undefined || areAllThere
      ? []
      : [`Repair the documents in the dead letters, and run \`sluice replay ${letters}\`.`]),
    ...(unknown === 0
      ? []
      : accepted > 0
        ? [
            `Run \`sluice verify ${run}\` with the URL of the cluster itself. Sluice does not send the unknown documents again.`,
          ]
        : ['Check which of the unknown documents are in the index. Sluice does not send them again.']),
  ]
}
