/** Returns where a declaration names something that may be declared elsewhere. The keys of objects and the names of parameters are no such names. */
export function referencesOf(node) {
  const found = []
  visit(node, [], found)
  return found
}

function visit(node, bound, found) {
  if (Array.isArray(node)) return node.forEach(one => visit(one, bound, found))
  if (typeof node?.type !== 'string') return undefined
  if (node.type === 'Identifier') {
    if (!bound.includes(node.name))
      found.push({ name: node.name, start: node.start, end: node.start + node.name.length })
    return visit(node.typeAnnotation, bound, found)
  }
  if (node.type === 'TSImportType') {
    const { source, qualifier, typeArguments } = node
    if (qualifier?.type !== 'Identifier') throw new Error(`import('${source.value}') as a whole`)
    found.push({ name: qualifier.name, from: source.value, start: node.start, end: qualifier.end })
    return visit(typeArguments, bound, found)
  }
  const own = [...bound, ...namesOf(node)]
  for (const [key, child] of Object.entries(node)) {
    if (isName(node, key)) continue
    if (
      key === 'params' &&
      Array.isArray(child) &&
      node.type !== 'TSTypeParameterDeclaration' &&
      node.type !== 'TSTypeParameterInstantiation'
    )
      for (const one of child) visit(one.type === 'Identifier' ? one.typeAnnotation : one, own, found)
    else visit(child, own, found)
  }
  return undefined
}

function isName({ type, computed }, key) {
  if (key === 'key') return !computed && type !== 'TSMappedType'
  if (type === 'TSQualifiedName') return key === 'right'
  if (type === 'TSTypeParameter') return key === 'name'
  if (type === 'TSNamedTupleMember') return key === 'label'
  if (type === 'TSTypePredicate') return key === 'parameterName'
  return type === 'TSMappedType' && key === 'key'
}

/** Returns the names of types that a node declares for what is inside. */
function namesOf(node) {
  const declared = (node.typeParameters?.params ?? []).map(({ name }) => name.name)
  if (node.type === 'TSMappedType') declared.push(node.key?.name)
  if (node.type === 'TSConditionalType') collectInferred(node.extendsType, declared)
  return declared
}

function collectInferred(node, names) {
  if (typeof node !== 'object' || node === null) return
  if (node.type === 'TSInferType') names.push(node.typeParameter.name.name)
  for (const child of Object.values(node)) collectInferred(child, names)
}
