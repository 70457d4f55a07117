// A small `pwsh`: the engine of PowerShell 7 (System.Management.Automation, MIT) behind the command line of `pwsh`.
// The package that holds its file and object cmdlets is not on NuGet, so Cmdlets.cs stands in for the few that are used.
// Understood: [-NoProfile] [-NonInteractive] [-ExecutionPolicy X] (-Command TEXT | -File SCRIPT [arguments]).
// AGENTCLI_PWSH_WINDOWS=1 makes $IsWindows true and keeps HKCU:\Environment in the file that AGENTCLI_PWSH_REGISTRY names.
using System.Collections.ObjectModel;
using System.Globalization;
using System.Management.Automation;
using System.Management.Automation.Host;
using System.Management.Automation.Runspaces;
using System.Reflection;
using System.Security;

const BindingFlags Hidden = BindingFlags.Instance | BindingFlags.NonPublic;
string? file = null, command = null;
var rest = new List<string>();
for (var at = 0; at < args.Length; at++)
{
    switch (args[at].ToLowerInvariant())
    {
        case "-noprofile" or "-noninteractive" or "-nologo": break;
        case "-executionpolicy": at++; break;
        case "-command" or "-c": command = string.Join(' ', args[++at..]); at = args.Length; break;
        case "-file" or "-f": file = args[++at]; rest.AddRange(args[(at + 1)..]); at = args.Length; break;
        default: file = args[at]; rest.AddRange(args[(at + 1)..]); at = args.Length; break;
    }
}

var state = InitialSessionState.CreateDefault2();
foreach (var type in Cmdlets.All)
{
    var name = type.GetCustomAttributes(typeof(CmdletAttribute), false).Cast<CmdletAttribute>().Single();
    state.Commands.Add(new SessionStateCmdletEntry($"{name.VerbName}-{name.NounName}", type, null));
}
if (Environment.GetEnvironmentVariable("AGENTCLI_PWSH_WINDOWS") == "1")
{
    state.Variables.Remove("IsWindows", null);
    state.Variables.Add(new SessionStateVariableEntry("IsWindows", true, ""));
}
state.Variables.Add(new SessionStateVariableEntry("PROFILE", Environment.GetEnvironmentVariable("AGENTCLI_PWSH_PROFILE")
    ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".config/powershell/profile.ps1"), ""));

var host = new Host();
using var runspace = RunspaceFactory.CreateRunspace(host, state);
runspace.Open();
using var shell = PowerShell.Create(runspace);
if (file is not null)
{
    // As the real host does for -File: `exit` of the script is that of the process.
    var context = typeof(Runspace).GetProperty("ExecutionContext", Hidden)!.GetValue(runspace)!;
    context.GetType().GetProperty("ScriptCommandProcessorShouldRethrowExit", Hidden)!.SetValue(context, true);
    shell.AddCommand(Path.GetFullPath(file), useLocalScope: false);
    // As `pwsh -File` has it: a word that begins with a dash names a parameter, any other word is a value.
    for (var at = 0; at < rest.Count; at++)
    {
        if (!rest[at].StartsWith('-')) shell.AddArgument(rest[at]);
        else if (at + 1 < rest.Count && !rest[at + 1].StartsWith('-')) shell.AddParameter(rest[at][1..], rest[++at]);
        else shell.AddParameter(rest[at][1..]);
    }
}
else shell.AddScript(command ?? Console.In.ReadToEnd(), useLocalScope: false);
shell.AddCommand("Out-Default");
shell.Streams.Error.DataAdded += (source, e) => Console.Error.WriteLine(((PSDataCollection<ErrorRecord>)source!)[e.Index]);

// `pwsh` reads a redirected standard input as lines into $input; AGENTCLI_PWSH_INPUT=raw leaves it to the script.
var lines = new PSDataCollection<object>();
if (Console.IsInputRedirected && Environment.GetEnvironmentVariable("AGENTCLI_PWSH_INPUT") != "raw")
{
    while (Console.In.ReadLine() is { } line) lines.Add(line);
}
lines.Complete();
var failed = false;
try { shell.Invoke(lines); }
catch (RuntimeException error)
{
    Console.Error.WriteLine(error.ErrorRecord);
    failed = true;
}
if (host.ExitCode is { } code) return code;
return failed || (command is not null && shell.HadErrors) ? 1 : 0;

sealed class Host : PSHost
{
    public int? ExitCode;
    public override string Name => "ConsoleHost";
    public override Version Version => new(7, 6, 9);
    public override Guid InstanceId { get; } = Guid.NewGuid();
    public override PSHostUserInterface UI { get; } = new Console_();
    public override CultureInfo CurrentCulture => CultureInfo.InvariantCulture;
    public override CultureInfo CurrentUICulture => CultureInfo.InvariantCulture;
    public override void SetShouldExit(int exitCode) => ExitCode = exitCode;
    public override void EnterNestedPrompt() => throw new NotSupportedException();
    public override void ExitNestedPrompt() => throw new NotSupportedException();
    public override void NotifyBeginApplication() { }
    public override void NotifyEndApplication() { }
}

sealed class Console_ : PSHostUserInterface
{
    public override PSHostRawUserInterface? RawUI => null;
    public override void Write(string value) => Console.Out.Write(value);
    public override void Write(ConsoleColor foreground, ConsoleColor background, string value) => Console.Out.Write(value);
    public override void WriteLine(string value) => Console.Out.WriteLine(value);
    public override void WriteErrorLine(string value) => Console.Error.WriteLine(value);
    public override void WriteDebugLine(string message) { }
    public override void WriteVerboseLine(string message) { }
    public override void WriteWarningLine(string message) => Console.Error.WriteLine(message);
    public override void WriteProgress(long sourceId, ProgressRecord record) { }
    public override string ReadLine() => throw new NotSupportedException("nobody is asked here");
    public override SecureString ReadLineAsSecureString() => throw new NotSupportedException();
    public override Dictionary<string, PSObject> Prompt(string caption, string message, Collection<FieldDescription> fields) =>
        throw new NotSupportedException();
    public override PSCredential PromptForCredential(string caption, string message, string user, string target) =>
        throw new NotSupportedException();
    public override PSCredential PromptForCredential(string caption, string message, string user, string target,
        PSCredentialTypes types, PSCredentialUIOptions options) => throw new NotSupportedException();
    public override int PromptForChoice(string caption, string message, Collection<ChoiceDescription> choices, int chosen) =>
        throw new NotSupportedException();
}
