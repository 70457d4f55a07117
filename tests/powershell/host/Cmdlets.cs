// The cmdlets of Microsoft.PowerShell.Commands.Management and .Utility that our scripts use, as thin as they can be over
// the providers of the engine. Only the parameters that stand in our scripts; any other parameter is an error, so a script
// that starts to use one fails here.
using System.Collections;
using System.Management.Automation;
using System.Security.Cryptography;
using System.Text;

static class Cmdlets
{
    public static readonly Type[] All =
    [
        typeof(GetContent), typeof(SetContent), typeof(TestPath), typeof(JoinPath), typeof(SplitPath), typeof(NewItem),
        typeof(GetItem), typeof(NewItemProperty), typeof(GetChildItem), typeof(RemoveItem), typeof(MoveItem),
        typeof(CopyItem), typeof(SelectObject), typeof(OutString), typeof(InvokeExpression), typeof(NewObject),
        typeof(GetFileHash), typeof(WriteOutput), typeof(GetLocation), typeof(SetLocation),
    ];

    public static Encoding EncodingOf(string? name) => name?.ToLowerInvariant() switch
    {
        null or "utf8" => new UTF8Encoding(false),
        "oem" => Encoding.GetEncoding(28591),
        _ => throw new ArgumentException($"no stand-in for the encoding {name}"),
    };
}

/// A cmdlet over paths: PowerShell's own resolution of the current location and of `\`.
abstract class PathCmdlet : PSCmdlet
{
    protected string Full(string path) => SessionState.Path.GetUnresolvedProviderPathFromPSPath(path);

    protected void Fail(Exception error, string id, object target) =>
        WriteError(new ErrorRecord(error, id, ErrorCategory.NotSpecified, target));

    protected void Missing(string path) =>
        Fail(new ItemNotFoundException($"Cannot find path '{path}' because it does not exist."), "PathNotFound", path);

    protected void Try(string path, Action action)
    {
        try { action(); }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException) { Fail(error, "IOError", path); }
    }

    protected static bool Exists(string path) => Path.Exists(path) || new FileInfo(path).LinkTarget is not null;
}

[Cmdlet("Get", "Content")]
class GetContent : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter] public string? Encoding { get; set; }
    [Parameter] public SwitchParameter Raw { get; set; }
    protected override void ProcessRecord()
    {
        var path = Full(LiteralPath);
        var encoding = Cmdlets.EncodingOf(Encoding);
        if (!Exists(path)) Missing(path);
        else if (Raw) Try(path, () => WriteObject(File.ReadAllText(path, encoding)));
        else Try(path, () => WriteObject(File.ReadAllLines(path, encoding), true));
    }
}

[Cmdlet("Set", "Content")]
class SetContent : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter(Mandatory = true)] public string[] Value { get; set; } = [];
    [Parameter] public string? Encoding { get; set; }
    protected override void ProcessRecord() =>
        Try(LiteralPath, () => File.WriteAllText(Full(LiteralPath), string.Concat(Value.Select(line => line + "\r\n")), Cmdlets.EncodingOf(Encoding)));
}

[Cmdlet("Test", "Path")]
class TestPath : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    protected override void ProcessRecord() => WriteObject(Exists(Full(LiteralPath)));
}

[Cmdlet("Join", "Path")]
class JoinPath : PathCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string Parent { get; set; } = "";
    [Parameter(Mandatory = true, Position = 1)] public string Child { get; set; } = "";
    protected override void ProcessRecord() => WriteObject(SessionState.Path.Combine(Parent, Child));
}

[Cmdlet("Split", "Path")]
class SplitPath : PathCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string Of { get; set; } = "";
    [Parameter(Mandatory = true)] public SwitchParameter Parent { get; set; }
    protected override void ProcessRecord() => WriteObject(SessionState.Path.ParseParent(Of, ""));
}

[Cmdlet("New", "Item")]
class NewItem : PathCmdlet
{
    [Parameter(Mandatory = true)] public string[] Path { get; set; } = [];
    [Parameter(Mandatory = true)] public string ItemType { get; set; } = "";
    [Parameter] public SwitchParameter Force { get; set; }
    protected override void ProcessRecord()
    {
        if (ItemType != "Directory") throw new ArgumentException($"no stand-in for {ItemType}");
        foreach (var path in Path)
        {
            var full = Full(path);
            if (Exists(full) && !Force) Fail(new IOException($"An item with the specified name {full} already exists."), "DirectoryExist", full);
            else Try(full, () => WriteObject(Directory.CreateDirectory(full)));
        }
    }
}

/// The file that stands for HKCU:\Environment: a line NAME=VALUE each.
static class Registry
{
    static string Place => Environment.GetEnvironmentVariable("AGENTCLI_PWSH_REGISTRY") ?? throw new IOException("no registry");
    public static string? Get(string name) => !File.Exists(Place) ? null
        : File.ReadAllLines(Place).Where(line => line.StartsWith(name + "=")).Select(line => line[(name.Length + 1)..]).FirstOrDefault();
    public static void Set(string name, string value) => File.WriteAllText(Place, $"{name}={value}\n");
}

class RegistryKey
{
    public object GetValue(string name, object otherwise, string options) => Registry.Get(name) ?? otherwise;
}

[Cmdlet("Get", "Item")]
class GetItem : PathCmdlet
{
    [Parameter(Position = 0)] public string? Path { get; set; }
    [Parameter] public string? LiteralPath { get; set; }
    protected override void ProcessRecord()
    {
        if (LiteralPath == @"HKCU:\Environment") { WriteObject(new RegistryKey()); return; }
        foreach (var path in SessionState.Path.GetResolvedProviderPathFromPSPath(Path ?? LiteralPath, out _))
            WriteObject(Directory.Exists(path) ? new DirectoryInfo(path) : new FileInfo(path));
    }
}

[Cmdlet("New", "ItemProperty")]
class NewItemProperty : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter(Mandatory = true)] public string Name { get; set; } = "";
    [Parameter(Mandatory = true)] public string Value { get; set; } = "";
    [Parameter(Mandatory = true)] public string PropertyType { get; set; } = "";
    [Parameter] public SwitchParameter Force { get; set; }
    protected override void ProcessRecord()
    {
        if (LiteralPath != @"HKCU:\Environment") throw new ArgumentException($"no stand-in for {LiteralPath}");
        Registry.Set(Name, Value);
    }
}

[Cmdlet("Get", "ChildItem")]
class GetChildItem : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter] public string Filter { get; set; } = "*";
    [Parameter] public SwitchParameter Force { get; set; }
    protected override void ProcessRecord()
    {
        var path = Full(LiteralPath);
        if (!Directory.Exists(path)) { Missing(path); return; }
        WriteObject(new DirectoryInfo(path).EnumerateFileSystemInfos(Filter).ToArray(), true);
    }
}

[Cmdlet("Remove", "Item")]
class RemoveItem : PathCmdlet
{
    [Parameter(Mandatory = true, ValueFromPipelineByPropertyName = true)]
    [Alias("FullName")]
    public string LiteralPath { get; set; } = "";
    [Parameter] public SwitchParameter Recurse { get; set; }
    [Parameter] public SwitchParameter Force { get; set; }
    protected override void ProcessRecord()
    {
        var path = Full(LiteralPath);
        if (!Exists(path)) Missing(path);
        else if (Directory.Exists(path)) Try(path, () => Directory.Delete(path, Recurse));
        else Try(path, () => File.Delete(path));
    }
}

[Cmdlet("Move", "Item")]
class MoveItem : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter(Mandatory = true)] public string Destination { get; set; } = "";
    [Parameter] public SwitchParameter Force { get; set; }
    protected override void ProcessRecord() => Try(LiteralPath, () => File.Move(Full(LiteralPath), Full(Destination), Force));
}

[Cmdlet("Copy", "Item")]
class CopyItem : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter(Mandatory = true)] public string Destination { get; set; } = "";
    protected override void ProcessRecord() => Try(LiteralPath, () => File.Copy(Full(LiteralPath), Full(Destination), true));
}

[Cmdlet("Select", "Object")]
class SelectObject : PSCmdlet
{
    [Parameter(ValueFromPipeline = true)] public PSObject? InputObject { get; set; }
    [Parameter] public int? First { get; set; }
    [Parameter] public int? Last { get; set; }
    [Parameter] public int Skip { get; set; }
    [Parameter] public string? ExpandProperty { get; set; }
    readonly List<PSObject> all = [];
    protected override void ProcessRecord() { if (InputObject is not null) all.Add(InputObject); }
    protected override void EndProcessing()
    {
        IEnumerable<PSObject> chosen = all.Skip(Skip);
        if (First is { } first) chosen = chosen.Take(first);
        if (Last is { } last) chosen = chosen.TakeLast(last);
        foreach (var one in chosen) WriteObject(ExpandProperty is null ? one : one.Properties[ExpandProperty].Value);
    }
}

[Cmdlet("Out", "String")]
class OutString : PSCmdlet
{
    [Parameter(ValueFromPipeline = true)] public PSObject? InputObject { get; set; }
    [Parameter] public SwitchParameter Stream { get; set; }
    readonly StringBuilder text = new();
    protected override void ProcessRecord()
    {
        if (Stream) WriteObject(InputObject?.ToString());
        else text.Append(InputObject).Append('\n');
    }
    protected override void EndProcessing() { if (!Stream) WriteObject(text.ToString()); }
}

[Cmdlet("Invoke", "Expression")]
class InvokeExpression : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0, ValueFromPipeline = true)] public string Command { get; set; } = "";
    protected override void ProcessRecord() => WriteObject(InvokeCommand.InvokeScript(false, ScriptBlock.Create(Command), null), true);
}

[Cmdlet("New", "Object")]
class NewObject : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string TypeName { get; set; } = "";
    protected override void ProcessRecord() => WriteObject(Activator.CreateInstance((Type)LanguagePrimitives.ConvertTo(TypeName, typeof(Type))));
}

[Cmdlet("Get", "FileHash")]
class GetFileHash : PathCmdlet
{
    [Parameter(Mandatory = true)] public string LiteralPath { get; set; } = "";
    [Parameter(Mandatory = true)] public string Algorithm { get; set; } = "";
    protected override void ProcessRecord()
    {
        if (Algorithm != "SHA256") throw new ArgumentException($"no stand-in for {Algorithm}");
        var result = new PSObject();
        result.Properties.Add(new PSNoteProperty("Hash", Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(Full(LiteralPath))))));
        WriteObject(result);
    }
}

[Cmdlet("Write", "Output")]
class WriteOutput : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0, ValueFromPipeline = true)] public PSObject? InputObject { get; set; }
    protected override void ProcessRecord() => WriteObject(InputObject, true);
}

[Cmdlet("Get", "Location")]
class GetLocation : PSCmdlet
{
    protected override void ProcessRecord() => WriteObject(SessionState.Path.CurrentLocation);
}

[Cmdlet("Set", "Location")]
class SetLocation : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string Path { get; set; } = "";
    protected override void ProcessRecord() => SessionState.Path.SetLocation(Path);
}
