import type { IndexDescription, Source } from '../../../base/flow.js'

/** Stands for all objects behind one name. Workers open them. */
export function inputElsewhere(name: string, id: number, describes?: readonly IndexDescription[]): Source {
  return {
    id,
    name,
    ...(describes === undefined ? {} : { describes }),
    open: () => {
      throw new Error(`${name} is loaded by workers`)
    },
  }
}
