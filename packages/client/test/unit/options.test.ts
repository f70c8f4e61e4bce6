import type { OptionValue } from "@carillon/contract/check";
import { expectTypeOf, it } from "vitest";
import type { CallOptions, ClientOptions, FollowOptions } from "../../src/index.js";
import type { KeyOption, VersionOption, WaitOption } from "../../src/methods.js";
import type { callOptions, clientOptions, followOptions } from "../../src/options.js";

type Plain<Type> = { [Name in keyof Type]: Type[Name] };
type Of<Name extends keyof typeof callOptions> = OptionValue<(typeof callOptions)[Name]>;

it("the schemas of options allow the values that the exported types allow, and no others", () => {
  expectTypeOf<OptionValue<typeof clientOptions>>().toEqualTypeOf<Plain<ClientOptions>>();
  expectTypeOf<OptionValue<typeof followOptions>>().toEqualTypeOf<Plain<FollowOptions>>();
  expectTypeOf<Of<"get">>().toEqualTypeOf<Plain<CallOptions>>();
  expectTypeOf<Of<"waitingGet">>().toEqualTypeOf<Plain<CallOptions & WaitOption>>();
  expectTypeOf<Of<"change">>().toEqualTypeOf<Plain<CallOptions & VersionOption>>();
  expectTypeOf<Of<"post">>().toEqualTypeOf<Plain<CallOptions & KeyOption & VersionOption>>();
  expectTypeOf<Of<"waitingPost">>().toEqualTypeOf<Plain<CallOptions & KeyOption & VersionOption & WaitOption>>();
});
