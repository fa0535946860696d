/** The cluster that the lab plays: a version number of Elasticsearch, or `serverless`. */
export type ClusterVersion = `${number}.${number}.${number}` | 'serverless'

/** The `version` object of `GET /`. Serverless always reports 8.11.0. */
export function describeVersion(version: ClusterVersion): Record<string, unknown> {
  const isServerless = version === 'serverless'
  const number = isServerless ? '8.11.0' : version
  const major = majorOf(version)
  return {
    number,
    build_flavor: isServerless ? 'serverless' : 'default',
    build_type: 'docker',
    build_hash: '00000000',
    build_date: '2023-10-31',
    build_snapshot: false,
    lucene_version: isServerless ? '9.7.0' : major >= 9 ? '10.4.0' : '9.12.2',
    minimum_wire_compatibility_version: isServerless
      ? '8.11.0'
      : major >= 9
        ? `${major - 1}.19.0`
        : `${major - 1}.17.0`,
    minimum_index_compatibility_version: isServerless ? '8.11.0' : `${major - 1}.0.0`,
  }
}

/** Returns the major version that the lab plays. Serverless behaves like the newest one. */
export function majorOf(version: ClusterVersion): number {
  return version === 'serverless' ? 9 : Number(version.split('.')[0])
}
