// Counts the public methods of classes and interfaces with the compiler's own checker, so that inherited members, intersections and Pick<…>
// count as the compiler sees them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { API, SignatureKind, SymbolFlags } from "@typescript/native/unstable/sync";
import { isClassDeclaration, isInterfaceDeclaration, isTypeAliasDeclaration } from "@typescript/native/unstable/ast/is";
import { filesIn } from "../check/repository.mjs";

/**
 * A port is an interface that a class names behind `implements`, or that a conformance suite imports. Other interfaces describe
 * one class or component and have the limit of a class.
 * @typedef {{ name: string, file: string, methods: number, isPort: boolean }} Counted
 */

/**
 * @param {string} root
 * @param {Map<string, string>} texts of sources by path
 * @returns {Counted[]} most methods first
 */
export function publicMethods(root, texts) {
  const ports = portNames([...texts.values()], conformanceSuites(root));
  const folders = readdirSync(`${root}packages`).filter((name) => existsSync(`${root}packages/${name}/tsconfig.json`));
  const api = new API({ cwd: root });
  try {
    const openProjects = folders.map((name) => `${root}packages/${name}/tsconfig.json`);
    const projects = api.updateSnapshot({ openProjects }).getProjects();
    return projects
      .flatMap((project) => countedIn(project, root, texts))
      .map((counted) => ({ ...counted, isPort: ports.has(counted.name) }))
      .sort((a, b) => b.methods - a.methods);
  } finally {
    api.close();
  }
}

function countedIn({ configFileName, program, checker }, root, texts) {
  const folder = configFileName.slice(root.length).replace("tsconfig.json", "src/");
  return [...texts.keys()]
    .filter((file) => file.startsWith(folder))
    .flatMap((file) =>
      (program.getSourceFile(root + file)?.statements ?? []).flatMap((statement) => {
        if (!isTypeDeclaration(statement) || statement.name === undefined) return [];
        const type = checker.getDeclaredTypeOfSymbol(checker.getSymbolAtLocation(statement.name));
        const own = checker.getPropertiesOfType(type).filter(isOurs);
        const methods = own.filter((member) => isMethod(member, checker)).length;
        return [{ name: statement.name.text, file, methods }];
      }),
    );
}

const isTypeDeclaration = (node) =>
  isClassDeclaration(node) || isInterfaceDeclaration(node) || isTypeAliasDeclaration(node);

/** Declared in the packages, and not private: members of String or Array say nothing about our types. */
const isOurs = ({ name, declarations }) =>
  !name.includes("#") && declarations.some(({ path }) => !path.includes("/node_modules/"));

/** Methods and properties that hold a function, except callbacks: these are called by the class, not by its user. */
function isMethod(member, checker) {
  if (member.flags & SymbolFlags.Method) return true;
  if (!(member.flags & SymbolFlags.Property) || /^on[A-Z]/.test(member.name)) return false;
  const type = checker.getTypeOfSymbol(member);
  return type !== undefined && checker.getSignaturesOfType(type, SignatureKind.Call).length > 0;
}

const implementsClause = /^(?:export )?(?:abstract )?class [^{]*?\bimplements ([^{]+)\{/gm;
const packageImport = /^import (?:type )?\{([^}]*)\} from "@carillon\//gm;

/** The suites that every adapter of a port passes. */
function conformanceSuites(root) {
  const paths = filesIn(root, /\.ts$/).filter((path) => /^packages\/[^/]+\/test\/conformance\//.test(path));
  return paths.map((path) => readFileSync(root + path, "utf8"));
}

function portNames(sources, suites) {
  const lists = [
    ...sources.flatMap((text) => [...text.matchAll(implementsClause)]),
    ...suites.flatMap((text) => [...text.matchAll(packageImport)]),
  ];
  const names = lists.flatMap(([, list]) => list.replace(/<[^>]*>/g, "").split(","));
  return new Set(names.map((name) => name.trim().replace(/^type /, "")));
}
