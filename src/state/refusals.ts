import { type Failure, failure } from '../failure/failure.js'

/** Returns RUN_OPTIONS_CHANGED. `loaded`: the input that the run has loaded completely. Otherwise the run is unfinished. */
export function optionsChanged(run: string, differences: readonly string[], loaded?: string): Failure {
  const what = loaded === undefined ? `the unfinished run ${run} began` : `run ${run} loaded ${loaded}`
  return failure('RUN_OPTIONS_CHANGED', { run, what, differences })
}

/** Returns INPUT_CHANGED. `documents`: how many of it the run has settled. `offset`: where that part ends. */
export function inputChanged(
  input: string,
  run: string,
  documents: number,
  observed: string,
  offset?: number,
): Failure {
  const many = `loaded ${documents.toLocaleString('en-US')} ${documents === 1 ? 'document' : 'documents'} from it`
  const did = documents === 0 ? 'began to load it' : many
  return failure('INPUT_CHANGED', { input, run, did, documents, observed, ...(offset === undefined ? {} : { offset }) })
}
