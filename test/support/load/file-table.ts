import type { FileStat } from '../../../src/base/flow.js'
import { FileTable } from '../../../src/pipeline/source/stored-file.js'

/** A table with one file. */
export function tableOf(folder: string, name: string, stat: FileStat, id = 0): FileTable {
  const table = new FileTable(folder)
  table.set(id, name, 1, stat)
  return table
}
