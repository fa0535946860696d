import type { Source } from '../../../base/flow.js'

/** Stands for all objects behind one name. Workers open them. */
export function inputElsewhere(name: string, id: number): Source {
  return {
    id,
    name,
    open: () => {
      throw new Error(`${name} is loaded by workers`)
    },
  }
}
