/** Counts the features that a file of the run's spine names: by an identifier, or by an import from the feature's folder. */
import { codeOf } from './tree.js'

const features = {
  spool: /spool/i,
  guarded: /guard/i,
  tables: /\btables?\b|platform|servicenow/i,
  deletions: /deletion/i,
  replay: /replay/i,
  limits: /limits/i,
  'byte budget': /budget|\bwire\b/i,
  standing: /\bstanding\b/i,
  verify: /verify|\bundo\b/i,
  serve: /\bserve|webhook/i,
  alarm: /alarm/i,
  filter: /filterPolicy|trafficFilter/i,
}
const wings = ['spool', 'guarded', 'tables', 'verify', 'serve', 'alarm', 'filter', 'servicenow']

/** @param {import('./tree.js').SourceFile[]} files @returns {string[]} names of features */
export function featuresNamedBy(files) {
  const code = files.map(({ text }) => codeOf(text)).join('\n')
  const folders = new Set(files.flatMap(({ imports }) => imports.map(path => path.split('/')[0])))
  const named = Object.keys(features).filter(name => features[name].test(code))
  const imported = wings.filter(name => folders.has(name)).map(name => (name === 'servicenow' ? 'tables' : name))
  return [...new Set([...named, ...imported])]
}
