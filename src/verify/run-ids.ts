/** The ids of a run, worked out from its checkpoint: each input's token, and the numbers of its documents. */
import type { Checkpoint, CheckpointInput } from '../state/checkpoint.js'

/** The documents of one input that the run has settled: `TOKEN-FIRST` to `TOKEN-LAST`. */
export interface InputIds {
  readonly name: string
  readonly token: string
  readonly first: number
  /** Less than `first` if there is none. */
  readonly last: number
  /** The last number may belong to no document: what stands there is a line without a line end, which may be blank. */
  readonly mayEndBlank: boolean
  /** The first document may have been stored by an earlier run: its line has grown since. */
  readonly sharesFirst: boolean
  /** Documents behind `last` may be stored: sent, and not settled when the checkpoint was written. */
  readonly isOpen: boolean
  /** A later run continued after `last`, and numbered its documents onwards. */
  readonly isContinued: boolean
  /** No document has a higher number. */
  readonly most: number
}

/** `{}` and a line end. */
const LEAST_BYTES = 3
/** Documents by which a file may have grown since it was looked at: more are searched for only where these are found. */
const GROWTH = 1000

/** `others`: checkpoints of runs that may have loaded other parts of the same inputs. */
export function idsOf({ inputs, isDoubtful }: Checkpoint, others: readonly Checkpoint[] = []): InputIds[] {
  const parts = others.flatMap(other => other.inputs)
  return inputs.map(input => {
    const { name, token, mark, status, start } = input
    const first = start?.document ?? 1
    const last = mark.document - (mark.tail > 0 ? 0 : 1)
    return {
      name,
      token,
      first,
      last,
      mayEndBlank: mark.tail > 0,
      sharesFirst: start?.wasRead ?? false,
      isOpen: isDoubtful && status !== 'finished',
      isContinued: parts.some(part => part.token === token && part.start !== undefined && part.start.document >= last),
      most: mostOf(input),
    }
  })
}

/** The number is unknown for a compressed file, a growing copy, or an input that is no file. */
function mostOf({ file, copy }: CheckpointInput): number {
  if (file === undefined || file.isCompressed || copy !== undefined) return Infinity
  return Math.ceil(file.size / LEAST_BYTES) + GROWTH
}

export function idOf({ token }: Pick<InputIds, 'token'>, number: number): string {
  return `${token}-${number}`
}
