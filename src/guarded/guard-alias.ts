import { type AliasFacts, readAlias } from '../cluster/alias.js'
import type { ConnectSection, DocumentSection, GuardedSection, StateSection } from '../options/load.js'
import type { Feature, Run, RunHook } from '../run/hooks.js'
import { keyOf } from '../state/run-identity.js'
import { GuardedLoad, type GuardedSections } from './guarded-load.js'
import { freshIndex, leadsTo, planGuarded } from './plan-guarded.js'

interface AliasSections {
  readonly connecting: ConnectSection
  readonly documents: DocumentSection
  readonly guarded: GuardedSection | undefined
  readonly state: StateSection
  readonly dryRun: boolean
}

/** Loads into a fresh index, checks it, and switches the alias to it. A dry run leaves the alias, and makes no index. */
export function guardAlias(sections: AliasSections): Feature {
  const { guarded } = sections
  return run => (guarded === undefined ? undefined : hookOf({ ...sections, guarded }, run))
}

function hookOf(sections: GuardedSections & AliasSections, { tell }: Run): RunHook {
  const { guarded, dryRun, state } = sections
  const { alias: name, indexBody } = guarded
  let alias: AliasFacts = { name }
  let loading: GuardedLoad | undefined
  return {
    identify: plain => ({
      ...plain,
      // No index has a blank in its name.
      into: `alias ${name}`,
      options: {
        ...plain.options,
        ...(indexBody === undefined ? {} : { indexBody: keyOf([indexBody]).slice(0, 8) }),
      },
      hasOwnIndex: true,
      target: { alias: name },
      look: async cluster => {
        alias = await readAlias(cluster, name)
      },
      lastIndex: last => last?.target.index,
      plan: async planning => {
        const isSwitched = leadsTo(alias, planning.previous?.target.index)
        return await planGuarded({ ...planning, isSwitched, isNamed: state.runId !== undefined })
      },
      index: run => freshIndex(name, run),
      notes: index => [`loading into ${index}, and ${name} is on ${alias.on?.name ?? 'no index yet'}`],
    }),
    prepare: async ({ cluster, found, patience }) => {
      if (dryRun) return
      const warn = (message: string) => tell({ type: 'warning', message })
      loading = new GuardedLoad({ sections, cluster, alias, found, patience, warn })
      await loading.prepare()
    },
    complete: async ({ counts, deadLetters, save }) => await loading?.complete(counts, deadLetters, save),
    // A resume checks an index that was not switched in once more.
    get isOpen() {
      return loading?.receipt.switched === false
    },
    receipt: () => (loading === undefined ? {} : { alias: loading.receipt }),
  }
}
