/**
 * Loads documents as parameters of a script, which changes stored documents. A script that runs twice for one document may do its work
 * twice, so nothing is sent again that an earlier process may have sent, unless the user asks for it.
 */
import type { DocumentSection, StateSection, TableSection } from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import type { Feature } from '../../run/loop/hooks.js'

interface Sections {
  readonly documents: DocumentSection
  readonly tables: TableSection | undefined
  readonly state: StateSection
}

export function runScript({ documents, tables, state }: Sections): Feature {
  const { script, resendUnknown } = documents
  return () => {
    if (script === undefined) return undefined
    const option = 'id' in script ? 'scriptId' : 'script'
    if (tables !== undefined) throw invalid(option, 'runs once for each line, but rows of a table may come again')
    if (state.runId !== undefined)
      throw invalid('runId', 'promises that a repeated run does nothing twice, which is impossible with a script')
    return {
      identify: plain => ({
        ...plain,
        plan: async planning => {
          const plan = await plain.plan(planning)
          if (plan.isDoubtful && !resendUnknown) throw mayRunTwice(`run ${plan.run}`)
          return plan
        },
        doubt:
          'the script may have changed documents that Sluice was sending when the run stopped. To continue, pass --resend-unknown, and it may change them twice',
      }),
    }
  }
}

/** Returns the error for documents that a script may have changed. */
export function mayRunTwice(who: string) {
  return invalid(
    'resendUnknown',
    `is not set. ${who} stopped while it sent documents to a script, and the script may have changed them. Pass it to send those without an answer again`,
  )
}
