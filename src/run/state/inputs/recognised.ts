/** Defines how a target knows an input. */
import type { FileIdentity } from '../checkpoint/checkpoint.js'
import type { ContentMatch, KnownExtent } from './content-index.js'
import type { KnownInput } from './known-input.js'
import type { OpenedLines } from './streamed-lines.js'

/** How a target knows an input. Undefined: it does not, and no known input has to do with it. */
export type Recognised =
  | {
      readonly kind: 'new'
      readonly twin?: KnownInput | undefined
      /** Another content of the same name. */
      readonly replaces?: KnownInput | undefined
      /** The input was opened to compare it. */
      readonly opened?: OpenedLines | undefined
      /** It is at the URL of this input, and holds something else. */
      readonly differs?: KnownInput | undefined
    }
  /**
   * All bytes that were read are still there. `file`: the file as it is now, if it is not as it was. `moved`: it was loaded under
   * another name. `packed`: the same lines are in a file that was not compared byte by byte.
   */
  | {
      readonly kind: 'known'
      readonly known: KnownInput
      readonly file?: FileIdentity
      readonly moved?: string
      readonly packed?: Pick<ContentMatch, 'content' | 'lines' | 'isWhole'>
      /** Set if it is no file: how the load continues. */
      readonly streamed?: Streamed
    }
  /** A run has read a part of it, and that part is another one now. */
  | { readonly kind: 'changed'; readonly known: KnownInput; readonly observed: string }

/** Says how the load continues with an input that may hold something else each time. */
export interface Streamed {
  /** The open input. Absent: it is opened again. */
  readonly opened?: OpenedLines | undefined
  /** The lines that it must begin with if it is opened again. */
  readonly begins: KnownExtent
  /** Length of a line end that now stands behind the last line. 0 if there is none. */
  readonly lineEnd: number
}
