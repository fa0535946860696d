/** Loads into a fresh index, checks it, and switches the alias to it. All inputs go into this index, so it decides what is left to do. */
import { type AliasFacts, leadsTo } from '../../route/cluster/indices.js'
import { isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { GuardedSection } from '../../options/load.js'
import type { BodiesHook, EndingHook, Feature, InputsHook, Run } from '../../run/loop/hooks.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { dropPlan, inputChanged, type Plan, type Planning, type RunIdentity } from '../../run/state/resume/plan.js'
import { keyOf } from '../../base/checksum/tokens.js'
import { GuardedLoad, type GuardedSections } from './guarded-load.js'

interface AliasSections extends Omit<GuardedSections, 'guarded'> {
  readonly guarded: GuardedSection | undefined
  readonly dryRun: boolean
}

interface AliasGuard {
  readonly feature: Feature
  /** Whether a resume would have to check an index that was not switched in once more. */
  isOpen(): boolean
}

/** Guards a load, if the options say so. A dry run leaves the alias, and makes no index. */
export function guardAlias(sections: AliasSections): AliasGuard {
  const { guarded } = sections
  let loading: GuardedLoad | undefined
  const begun = (load: GuardedLoad | undefined) => (loading = load)
  return {
    feature: run => {
      begun(undefined)
      return guarded === undefined ? undefined : hookOf({ ...sections, guarded }, run, begun)
    },
    isOpen: () => loading?.isOpen === true,
  }
}

function hookOf(
  sections: AliasSections & GuardedSections,
  { tell }: Run,
  begun: (load: GuardedLoad) => void,
): InputsHook & BodiesHook & EndingHook {
  const { guarded, dryRun, state, preparing } = sections
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
        ...(preparing.mapping === undefined ? {} : { mapping: keyOf([preparing.mapping]).slice(0, 8) }),
      },
      hasOwnIndex: true,
      target: { alias: name },
      look: async cluster => {
        alias = await cluster.indices.readAlias(name)
      },
      lastIndex: last => last?.target.index,
      plan: async planning => {
        const isSwitched = leadsTo(alias, planning.runs[0]?.target.index)
        return await planGuarded(planning, plain.plan, isSwitched, state.runId !== undefined)
      },
      index: run => `${name}-${run.toLowerCase()}`,
      notes: index => [`loading into ${index}, and ${name} is on ${alias.on?.name ?? 'no index yet'}`],
    }),
    prepare: async ({ cluster, found, retrier }) => {
      if (dryRun) return
      const warn = (message: string) => tell({ type: 'warning', message })
      loading = new GuardedLoad({ sections, cluster, alias, found, retrier, warn })
      begun(loading)
      await loading.prepare()
    },
    complete: async ({ counts, deadLetters, save }) => await loading?.complete(counts, deadLetters, save),
    receipt: () => (loading === undefined ? {} : { alias: loading.receipt }),
  }
}

/**
 * Plans a guarded run. `isSwitched`: the alias leads to the index of the last run, so nothing may be written to it any more.
 * `isNamed`: the run has a name, which is also in the index's name, so it cannot begin again. Throws SluiceError: see `planRun`.
 */
async function planGuarded(
  given: Planning,
  planRun: RunIdentity['plan'],
  isSwitched: boolean,
  isNamed: boolean,
): Promise<Plan> {
  const [previous] = given.runs
  // A new index needs all documents, also those that an earlier run loaded.
  const planning = { ...given, readsWhole: true, listsRefusals: false }
  if (previous === undefined) return await planRun(planning)
  const isOver = isSwitched || previous.status === 'finished'
  // A new run would fill another index, without what this one has loaded.
  const plan = await planRun({ ...planning, takesMore: true }).catch((error: unknown) => {
    if (isSluiceError(error) && error.code === 'INPUT_CHANGED' && (isOver || !isNamed)) return undefined
    throw error
  })
  const gone = plan === undefined ? undefined : goneFrom(plan, previous)
  if (plan !== undefined && gone === undefined) {
    // A finished run cannot know of later changes to a table.
    const isLoaded =
      plan.continues !== undefined && plan.inputs.every(one => one.isLoaded && one.source.cursor === undefined)
    if (!isOver || isLoaded) return plan
  }
  if (plan !== undefined) await dropPlan(plan)
  const anew = await planRun({ ...planning, runs: [] })
  if (isOver) return anew
  const { run, inputs, target } = previous
  if (isNamed) {
    const documents = ([...inputs].find(({ name }) => name === gone)?.mark.document ?? 1) - 1
    const observed = 'it is no longer among the inputs, or its content changed'
    throw new SluiceError(inputChanged(gone ?? '', run, documents, observed))
  }
  const warning = `the inputs changed after run ${run} was interrupted, so Sluice loads everything again and leaves ${target.index} as it is`
  return { ...anew, warnings: [warning] }
}

/** Returns an input whose documents are in the index, but whose content is another one now, or gone. */
function goneFrom({ inputs }: Plan, previous: Checkpoint): string | undefined {
  const tokens = new Set(inputs.map(({ token }) => token))
  return [...previous.inputs].find(({ token }) => !tokens.has(token))?.name
}
