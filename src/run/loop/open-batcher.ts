import { Batcher } from '../../pipeline/bulk/batcher.js'
import { SlotPool } from '../../pipeline/bulk/slots.js'
import type { Input, Origin } from '../../base/flow.js'
import type { ConditionFields, Operation } from '../../base/operation.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import { MAX_DOCUMENT_BYTES } from '../../options/check-options.js'
import type { DocumentSection } from '../../options/load.js'
import { systemClock } from '../../base/time/clock.js'
import type { BodyFramer, Framing } from './hooks.js'
import type { LockedRun } from './locked-run.js'

/** `bodyBytes`: how large a body may be from now on. */
export function openBatcher(
  { sections, hooks }: LockedRun,
  slots: SlotPool,
  ledger: Ledger,
  bodyBytes: () => number,
): BodyFramer {
  const { documents, batching } = sections
  const { batchBytes, batchDocs, batchMs } = batching
  const framing: Framing = {
    batchBytes,
    bodyBytes,
    batchDocs,
    batchMs,
    maxDocumentBytes: MAX_DOCUMENT_BYTES,
    slots,
    clock: systemClock,
    longLine: async (input: Input, origin: Origin, operation: Operation, id?: string) =>
      await ledger.longLine(input, origin, operation, MAX_DOCUMENT_BYTES, id),
  }
  const plain = (how: Framing): BodyFramer => new Batcher({ ...how, ...actionOf(documents) })
  // The documents that a hook changes pass the hooks before it.
  const framer = hooks.all.reduce(
    (inner, hook) => (hook.frame === undefined ? inner : how => hook.frame?.(how, ledger, inner) ?? inner(how)),
    plain,
  )
  return framer(framing)
}

function actionOf({ op, ids, routingField, indexPattern, script, retryOnConflict, ...documents }: DocumentSection) {
  return {
    operation: op,
    ids,
    ...conditionFieldsOf(documents),
    ...(script === undefined ? {} : { script }),
    ...(retryOnConflict === undefined ? {} : { retryOnConflict }),
    ...(routingField === undefined ? {} : { routingField }),
    ...(indexPattern === undefined ? {} : { indexPattern }),
  }
}

/** Returns the fields that are set. */
export function conditionFieldsOf(given: Pick<DocumentSection, keyof ConditionFields>): ConditionFields {
  const { versionField, ifSeqNoField, ifPrimaryTermField } = given
  return {
    ...(versionField === undefined ? {} : { versionField }),
    ...(ifSeqNoField === undefined ? {} : { ifSeqNoField }),
    ...(ifPrimaryTermField === undefined ? {} : { ifPrimaryTermField }),
  }
}
